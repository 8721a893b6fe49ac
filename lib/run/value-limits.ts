import {ProgramError} from './program-error.js';

/** The maximum nesting of arrays and objects: deeper JSON overflows the stack of many parsers. */
export const MAX_NESTING = 900;

/** The most values in the arguments of a call. The main thread parses them, in a tenth of a microsecond each. */
export const MAX_CALL_VALUES = 100_000;
/** The most values of a result, of a call or of the program. */
export const MAX_RESULT_VALUES = 500_000;

/**
 * Members of all objects in a result, at least, and for each MiB that a result may have. Members are values as well. V8 may make a
 * hidden class for each, which takes three times the memory of the member.
 */
export const MEMBERS_PER_MIB = 40_000;

/** The most members in a result of this many bytes. */
export const maxMembersFor = (maxBytes: number): number =>
	MEMBERS_PER_MIB * Math.max(1, Math.floor(maxBytes / 2 ** 20));

/** Integers in arguments have 64 bits at most, since servers cannot read longer ones. */
const [LEAST_INTEGER, GREATEST_INTEGER] = [-(2n ** 63n), 2n ** 64n - 1n];

type ValueLimits = {
	readonly maxBytes: number;
	readonly maxValues: number;
	readonly checkNumber?: (value: number | bigint) => void;
};

/** Rejects a number in the arguments of a call that Python would reject there. */
export function checkInteger(value: number | bigint): void {
	// Python reads numbers from here on as fractions: JSON has them with an exponent.
	if (typeof value === 'number' && (!Number.isInteger(value) || Math.abs(value) >= 1e21)) return;
	const integer = BigInt(value);
	if (integer >= LEAST_INTEGER && integer <= GREATEST_INTEGER) return;
	throw new ProgramError('ValueError', `${value} has more than 64 bits. Pass it as text.`);
}

/**
 * Rejects a value whose JSON would be too long or too deep, before it is written. Lists that share their items are small
 * in memory but may have JSON of any length, so this stops counting at the limit.
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

/** The least length that the texts in a value have as JSON. The value was parsed from JSON. */
export function textLength(value: unknown): number {
	if (typeof value === 'string') return value.length + 2;
	if (typeof value !== 'object' || value === null) return 0;
	let length = 0;
	for (const item of Object.values(value)) length += textLength(item);
	return length;
}

/** A comma or a bracket, and at least one letter. */
function minBytes(part: unknown): number {
	if (typeof part === 'string') return part.length + 3;
	return typeof part === 'bigint' ? String(part).length + 1 : 2;
}

function itemsOf(value: object, spend: (bytes: number) => void): readonly unknown[] {
	if (Array.isArray(value)) return value;
	for (const key of Object.keys(value)) spend(key.length + 3);
	return Object.values(value);
}
