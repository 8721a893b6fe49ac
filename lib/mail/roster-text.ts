import {BridgeError} from '../errors.js';
import {type JsonObject, objectOf} from '../protocol/json.js';
import {elements} from '../wire/batch.js';
import {memberRange} from '../wire/member.js';
import {rosterOf} from './roster.js';

const INDENT = '  ';
/** Members of a roster that is changed; a roster with more is left as it is. */
export const MAX_MEMBERS = 10_000;

/** An entry of a roster: what it says, and as it stands there. */
export type RosterEntry = {readonly record: JsonObject; readonly text: string};

/**
 * The roster with other members, which are texts of before or new records; undefined where they are the same. All else
 * stays as it is, byte for byte. `path` is the file, for errors.
 */
export function withMembers(
	bytes: Buffer,
	path: string,
	change: (entries: readonly RosterEntry[]) => ReadonlyArray<RosterEntry | JsonObject>,
): Buffer | undefined {
	rosterOf(bytes);
	const [start = 0, end = 0] = memberRange(bytes, 'members') ?? [];
	const texts = elements(bytes.subarray(start, end), MAX_MEMBERS);
	// Without this error, all members would be replaced by the new one.
	if (!texts) throw tooMany(path);
	const before = texts.map(text => ({record: objectOf(JSON.parse(text.toString())), text: text.toString()}));
	const after = change(before);
	if (after.length === before.length && after.every((entry, at) => entry === before[at])) return;
	const kept: ReadonlySet<RosterEntry | JsonObject> = new Set(before);
	const lines = after.map(entry => (isEntry(entry, kept) ? entry.text : written(entry)));
	const list =
		lines.length === 0 ? '[]' : `[\n${INDENT.repeat(2)}${lines.join(`,\n${INDENT.repeat(2)}`)}\n${INDENT}]`;
	return Buffer.concat([bytes.subarray(0, start), Buffer.from(list), bytes.subarray(end)]);
}

const isEntry = (entry: RosterEntry | JsonObject, kept: ReadonlySet<unknown>): entry is RosterEntry =>
	kept.has(entry);

const written = (record: unknown): string =>
	JSON.stringify(record, undefined, INDENT).replaceAll('\n', `\n${INDENT.repeat(2)}`);

const tooMany = (path: string): BridgeError =>
	new BridgeError(
		'ERR_MAIL_UNREADABLE',
		`${path} has more than ${MAX_MEMBERS} members. It is left as it is.`,
		'Remove members that are gone.',
		{path},
	);
