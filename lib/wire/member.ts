import {INVALID, stringAt, type Walk, walkFor} from './walk.js';

/**
 * Returns the exact text of a value in a message, by the names of the members on the path to it.
 *
 * For values that a parser would change, such as numbers. The message must be valid JSON. Of repeated keys,
 * the last one counts.
 */
export function memberText(message: Buffer, ...path: readonly string[]): string | undefined {
	const range = memberRange(message, ...path);
	return range && message.toString('utf8', ...range);
}

/** Returns the position of the value at a path. */
export function memberRange(
	message: Buffer,
	...path: readonly string[]
): readonly [start: number, end: number] | undefined {
	const walk = walkFor(message.length);
	walk.seal(walk.write(message, 0));
	let at = walk.skipWhitespace(0);
	let end = message.length;
	for (const name of path) {
		const range = memberRangeIn(message, walk, at, name);
		if (!range) return;
		[at, end] = range;
	}
	return [at, end];
}

/** Returns the position of a member's value in the object that opens at `at`. */
function memberRangeIn(
	bytes: Buffer,
	walk: Walk,
	at: number,
	name: string,
): [start: number, end: number] | undefined {
	let lastMatch: [number, number] | undefined;
	if (bytes[at] !== 0x7b) return;
	for (at = walk.skipWhitespace(at + 1); bytes[at] === 0x22; at = walk.skipWhitespace(at + 1)) {
		const keyEnd = walk.endOfString(at);
		const start = keyEnd === INVALID ? INVALID : walk.afterColon(keyEnd);
		const end = start === INVALID ? INVALID : walk.endOfValue(start);
		if (end === INVALID) return;
		if (stringAt(bytes, at, keyEnd) === name) lastMatch = [start, end];
		at = walk.skipWhitespace(end);
	}
	return lastMatch;
}
