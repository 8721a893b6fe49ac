import {ProgramError} from './program-error.js';

/** The maximum nesting of arrays and objects: deeper JSON overflows the stack of many parsers. */
export const MAX_NESTING = 900;

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
