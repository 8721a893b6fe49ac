import {BridgeError} from '../../core/errors.js';
import {type JsonObject, objectOf} from '../../util/json.js';
import {batchElements} from '../../wire/batch.js';
import {memberRange} from '../../wire/member.js';
import {parseRoster} from './roster.js';

const INDENT = '  ';
/** Members of a roster that is changed; a roster with more is left as it is. */
export const MAX_MEMBERS = 10_000;

/** An entry of a roster: what it says, and as it stands there. */
export type RosterEntry = {readonly record: JsonObject; readonly text: string};

/**
 * The roster with other members, which are texts of before or new records; undefined where they are the same. All else
 * stays as it is, byte for byte. `path` is the file, for errors.
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
		`${path} has more than ${MAX_MEMBERS} members. It is left as it is.`,
		'Remove members that are gone.',
		{path},
	);
