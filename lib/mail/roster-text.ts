import {type JsonObject, objectOf} from '../protocol/json.js';
import {elements} from '../wire/batch.js';
import {memberRange} from '../wire/member.js';
import {rosterOf} from './roster.js';

const INDENT = '  ';
const MAX_MEMBERS = 10_000;

/** An entry of a roster: what it says, and as it stands there. */
export type RosterEntry = {readonly record: JsonObject; readonly text: string};

/**
 * The roster with other members, which are texts of before or new records; undefined where they are the same. All else
 * stays as it is, byte for byte.
 */
export function withMembers(
	bytes: Buffer,
	change: (entries: readonly RosterEntry[]) => ReadonlyArray<RosterEntry | JsonObject>,
): Buffer | undefined {
	rosterOf(bytes);
	const [start = 0, end = 0] = memberRange(bytes, 'members') ?? [];
	const texts = elements(bytes.subarray(start, end), MAX_MEMBERS) ?? [];
	const before = texts.map(text => ({record: objectOf(JSON.parse(text.toString())), text: text.toString()}));
	const after = change(before);
	if (after.length === before.length && after.every((entry, at) => entry === before[at])) return;
	const lines = after.map(entry => (isEntry(entry, before) ? entry.text : written(entry)));
	const list =
		lines.length === 0 ? '[]' : `[\n${INDENT.repeat(2)}${lines.join(`,\n${INDENT.repeat(2)}`)}\n${INDENT}]`;
	return Buffer.concat([bytes.subarray(0, start), Buffer.from(list), bytes.subarray(end)]);
}

const isEntry = (entry: RosterEntry | JsonObject, before: readonly RosterEntry[]): entry is RosterEntry =>
	before.includes(entry as RosterEntry);

const written = (record: unknown): string =>
	JSON.stringify(record, undefined, INDENT).replaceAll('\n', `\n${INDENT.repeat(2)}`);
