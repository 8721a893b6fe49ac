import {ProgramError} from './program-error.js';

/** The maximum nesting of arrays and objects. Deeper JSON overflows the stack of many parsers. */
export const MAX_NESTING = 900;

/**
 * The maximum number of values in the arguments of a call. Parsing on the main thread takes about 0.1 µs for
 * each.
 */
export const MAX_CALL_VALUES = 100_000;
/** The maximum number of values in the result of a call or of the program. */
export const MAX_RESULT_VALUES = 500_000;

/**
 * The maximum number of object members for each MiB of a result, and the minimum of that limit. Members count
 * as values as well. V8 may create a hidden class for each member, which takes three times its memory.
 */
export const MEMBERS_PER_MIB = 40_000;

/** The maximum number of object members in a result of this size. */
export const maxMembersFor = (maxBytes: number): number =>
	MEMBERS_PER_MIB * Math.max(1, Math.floor(maxBytes / 2 ** 20));

/** Integers in arguments have at most 64 bits, since many servers cannot parse longer ones. */
const [LEAST_INTEGER, GREATEST_INTEGER] = [-(2n ** 63n), 2n ** 64n - 1n];

type ValueLimits = {
	readonly maxBytes: number;
	readonly maxValues: number;
	readonly checkNumber?: (value: number | bigint) => void;
};

/** Rejects an integer argument with more than 64 bits, as the prelude does. */
export function checkInteger(value: number | bigint): void {
	// JSON has larger numbers in exponent notation, which Python parses as floats.
	if (typeof value === 'number' && (!Number.isInteger(value) || Math.abs(value) >= 1e21)) return;
	const integer = BigInt(value);
	if (integer >= LEAST_INTEGER && integer <= GREATEST_INTEGER) return;
	throw new ProgramError('ValueError', `${value} has more than 64 bits. Pass it as text.`);
}

/**
 * Rejects a value whose JSON would be too long or too deep, before it is serialized. Lists that share items
 * are small in memory, but their JSON may have any length. Counting therefore stops at the limit.
 */
export function checkValue(
	value: unknown,
	{maxBytes, maxValues, checkNumber}: ValueLimits,
	subject: string,
): void {
	let [remainingBytes, values] = [maxBytes, 0];
	const spend = (bytes: number): void => {
		remainingBytes -= bytes;
		if (remainingBytes < 0)
			throw new ProgramError('OutputLimit', `${subject} has more than ${maxBytes} bytes.`);
	};
	const check = (part: unknown, depth: number): void => {
		if (++values > maxValues)
			throw new ProgramError('OutputLimit', `${subject} has more than ${maxValues} values.`);
		if (typeof part === 'number' || typeof part === 'bigint') checkNumber?.(part);
		spend(minBytes(part));
		if (typeof part !== 'object' || part === null) return;
		if (depth >= MAX_NESTING) throw new ProgramError('ValueError', `${subject} is nested too deeply.`);
		for (const item of itemsOf(part, spend)) check(item, depth + 1);
	};
	check(value, 0);
}

/** The minimum JSON length of the texts in a value that was parsed from JSON. */
export function textLength(value: unknown): number {
	if (typeof value === 'string') return value.length + 2;
	if (typeof value !== 'object' || value === null) return 0;
	let length = 0;
	for (const item of Object.values(value)) length += textLength(item);
	return length;
}

/** The minimum JSON size of a value: a separator and at least one character. */
function minBytes(part: unknown): number {
	if (typeof part === 'string') return part.length + 3;
	return typeof part === 'bigint' ? String(part).length + 1 : 2;
}

function itemsOf(value: object, spend: (bytes: number) => void): readonly unknown[] {
	if (Array.isArray(value)) return value;
	for (const key of Object.keys(value)) spend(key.length + 3);
	return Object.values(value);
}
