import {BridgeError} from '../../core/errors.js';
import {type JsonObject, objectOf} from '../../util/json.js';
import {batchElements} from '../../wire/batch.js';
import {memberRange} from '../../wire/member.js';
import {parseRoster} from './roster.js';

const INDENT = '  ';
/** Limit on members. A roster with more is not changed. */
export const MAX_MEMBERS = 10_000;

/** An entry of a roster: its parsed record and its exact text. */
export type RosterEntry = {readonly record: JsonObject; readonly text: string};

/**
 * Replaces the members of a roster. `change` returns existing entries, which keep their exact text, and new
 * records. All other bytes stay unchanged. Returns undefined if no member changes. `path` is for error
 * messages.
 */
export function replaceMembers(
	bytes: Buffer,
	path: string,
	change: (entries: readonly RosterEntry[]) => ReadonlyArray<RosterEntry | JsonObject>,
): Buffer | undefined {
	parseRoster(bytes);
	const [start = 0, end = 0] = memberRange(bytes, 'members') ?? [];
	const texts = batchElements(bytes.subarray(start, end), MAX_MEMBERS);
	// Without this error, all members would be replaced by the new one.
	if (!texts) throw tooManyMembersError(path);
	const currentEntries = texts.map(text => ({
		record: objectOf(JSON.parse(text.toString())),
		text: text.toString(),
	}));
	const after = change(currentEntries);
	if (after.length === currentEntries.length && after.every((entry, at) => entry === currentEntries[at]))
		return;
	const existing: ReadonlySet<RosterEntry | JsonObject> = new Set(currentEntries);
	const lines = after.map(entry => (isExistingEntry(entry, existing) ? entry.text : formatRecord(entry)));
	const list =
		lines.length === 0 ? '[]' : `[\n${INDENT.repeat(2)}${lines.join(`,\n${INDENT.repeat(2)}`)}\n${INDENT}]`;
	return Buffer.concat([bytes.subarray(0, start), Buffer.from(list), bytes.subarray(end)]);
}

const isExistingEntry = (
	entry: RosterEntry | JsonObject,
	existing: ReadonlySet<unknown>,
): entry is RosterEntry => existing.has(entry);

const formatRecord = (record: unknown): string =>
	JSON.stringify(record, undefined, INDENT).replaceAll('\n', `\n${INDENT.repeat(2)}`);

const tooManyMembersError = (path: string): BridgeError =>
	new BridgeError(
		'ERR_MAIL_UNREADABLE',
		`${path} has more than ${MAX_MEMBERS} members. The file was left unchanged.`,
		'Remove members that no longer exist.',
		{path},
	);
