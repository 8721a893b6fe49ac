import {ProgramError} from './program-error.js';

/** The maximum nesting of arrays and objects: deeper JSON overflows the stack of many parsers. */
export const MAX_NESTING = 900;

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c] as const;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d] as const;

/** The cost of parsing a JSON text. */
export type JsonWeight = {readonly values: number; readonly depth: number};

/**
 * Counts the values of a JSON text and its depth, without parsing it. Parsing builds an object for each value, which takes
 * up to fifty times as long as this, and ten times the memory of the text. Text that is not JSON gets an arbitrary count.
 */
export function jsonWeight(bytes: Uint8Array): JsonWeight {
	let [values, depth, deepest] = [1, 0, 0];
	for (let at = 0; at < bytes.length; at++) {
		const byte = bytes[at];
		if (byte === QUOTE) at = endOfString(bytes, at);
		else if (byte === COMMA) values++;
		else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
			values++;
			if (++depth > deepest) deepest = depth;
		} else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--;
	}
	return {values, depth: deepest};
}

/** The position of the quote that ends the string that starts here; the length of the text where there is none. */
function endOfString(bytes: Uint8Array, start: number): number {
	for (let at = bytes.indexOf(QUOTE, start + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
		let first = at;
		while (first > start + 1 && bytes[first - 1] === BACKSLASH) first--;
		if ((at - first) % 2 === 0) return at;
	}
	return bytes.length;
}

/** The most values in the arguments of a call. The main thread parses them, in a tenth of a microsecond each. */
export const MAX_CALL_VALUES = 100_000;
/** The most values of a result, of a call or of the program. */
export const MAX_RESULT_VALUES = 500_000;

type ValueLimits = {readonly maxBytes: number; readonly maxValues: number};

/**
 * Rejects a value whose JSON would be too long or too deep, before it is written. Lists that share their items are small
 * in memory but may have JSON of any length, so this stops counting at the limit.
 */
export function checkValue(value: unknown, {maxBytes, maxValues}: ValueLimits, what: string): void {
	let [left, values] = [maxBytes, 0];
	const spend = (bytes: number): void => {
		left -= bytes;
		if (left < 0) throw new ProgramError('OutputLimit', `${what} has more than ${maxBytes} bytes.`);
	};
	const check = (part: unknown, depth: number): void => {
		if (++values > maxValues)
			throw new ProgramError('OutputLimit', `${what} has more than ${maxValues} values.`);
		// A comma or a bracket, and at least one letter.
		spend(typeof part === 'string' ? part.length + 3 : 2);
		if (typeof part !== 'object' || part === null) return;
		if (depth >= MAX_NESTING) throw new ProgramError('ValueError', `${what} is nested too deeply.`);
		for (const item of itemsOf(part, spend)) check(item, depth + 1);
	};
	check(value, 0);
}

function itemsOf(value: object, spend: (bytes: number) => void): readonly unknown[] {
	if (Array.isArray(value)) return value;
	for (const key of Object.keys(value)) spend(key.length + 3);
	return Object.values(value);
}
