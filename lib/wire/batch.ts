import {walkFor} from './walk.js';

/** The maximum size of a client's batch. No known client sends more. */
export const MAX_BATCH = 100;
/** The limit for upstreams is higher, since their batches may contain responses to pending requests. */
const MAX_ELEMENTS = 1000;

const [COMMA, OPEN, CLOSE] = [0x2c, 0x5b, 0x5d];

/** Whether a line is an array. The line must be JSON. */
export function isBatch(line: Buffer): boolean {
	let at = 0;
	while (line[at] === 0x20 || line[at] === 0x09 || line[at] === 0x0d) at++;
	return line[at] === OPEN;
}

/** Returns the texts of the elements of a JSON array, or undefined if there are more than `limit`. */
export function batchElements(array: Buffer, limit = MAX_ELEMENTS): Buffer[] | undefined {
	const walk = walkFor(array.length);
	walk.seal(walk.write(array, 0));
	const texts: Buffer[] = [];
	let at = walk.skipWhitespace(walk.skipWhitespace(0) + 1);
	while (at < array.length && array[at] !== CLOSE) {
		if (texts.length === limit) return;
		const end = walk.endOfValue(at);
		texts.push(array.subarray(at, end));
		at = walk.skipWhitespace(end);
		if (array[at] === COMMA) at = walk.skipWhitespace(at + 1);
	}
	return texts;
}
