import {afterColon, BAD, endOfString, endOfValue, isKey, key, newNotes, skipSpace} from './json.js';

/**
 * The text of a value inside a message, found by the names of the members on the way to it.
 *
 * For what a parser would change, numbers above all. The message has to be JSON; of repeated keys the last one counts.
 */
export function memberText(message: Buffer, ...path: readonly string[]): string | undefined {
	let at = skipSpace(message, 0);
	let end = message.length;
	for (const name of path) {
		const range = member(message, at, name);
		if (!range) return;
		[at, end] = range;
	}
	return message.toString('utf8', at, end);
}

/** Where the value of a member is in the object that opens at `at`. */
function member(bytes: Buffer, at: number, name: string): [start: number, end: number] | undefined {
	const notes = newNotes();
	const wanted = key(name);
	let found: [number, number] | undefined;
	if (bytes[at] !== 0x7b) return;
	for (at = skipSpace(bytes, at + 1); bytes[at] === 0x22; at = skipSpace(bytes, at + 1)) {
		const keyEnd = endOfString(bytes, at, bytes.length, notes);
		const isWanted = keyEnd !== BAD && isKey(bytes, at, keyEnd, wanted, notes);
		const start = keyEnd === BAD ? BAD : afterColon(bytes, keyEnd);
		const end = start === BAD ? BAD : endOfValue(bytes, start, bytes.length, 0, notes);
		if (end === BAD) return;
		if (isWanted) found = [start, end];
		at = skipSpace(bytes, end);
	}
	return found;
}
