import {walkFor} from './walk.js';

/** More messages in one batch than any client sends. */
export const MAX_BATCH = 100;
/** What a server says in one is not refused so soon: it may be answers that are waited for. */
const MAX_ELEMENTS = 1000;

const [COMMA, OPEN, CLOSE] = [0x2c, 0x5b, 0x5d];

/** Whether what a line holds is an array, if it is JSON. */
export function isBatch(line: Buffer): boolean {
	let at = 0;
	while (line[at] === 0x20 || line[at] === 0x09 || line[at] === 0x0d) at++;
	return line[at] === OPEN;
}

/** The texts of the values in an array that is known to be JSON; nothing, if there are more than a batch may have. */
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
