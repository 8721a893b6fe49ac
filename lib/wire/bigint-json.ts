import {randomBytes} from 'node:crypto';
import {numbersIn} from './number-tokens.js';

/** Only a text with this many digits in a row can have an integer that a double rounds. */
const MANY_DIGITS = /\d{16}/;
/** Python reads no longer ones either, since the time for it grows with the square of the length. */
const MAX_DIGITS = 4300;

/** Each takes some 3 µs of the main thread. A text of 1 MiB has at most this many. */
const MAX_INTEGERS = 2 ** 16;

/** A prefix that no text has: it cannot be guessed. */
const PREFIX = `\u0000${randomBytes(6).toString('hex')} `;
const QUOTED_PREFIX = JSON.stringify(PREFIX).slice(0, -1);

/** Parses JSON. Integers that a double would round are of the type bigint. Throws for too many of them, and for too long ones. */
export function parseWithBigInts(json: string): unknown {
	if (!MANY_DIGITS.test(json)) return JSON.parse(json);
	const parts: string[] = [];
	let [done, count] = [0, 0];
	for (const {token, start} of numbersIn(json)) {
		if (!isRounded(token)) continue;
		if (token.length > MAX_DIGITS) throw new RangeError(`An integer has more than ${MAX_DIGITS} digits.`);
		if (++count > MAX_INTEGERS) throw new RangeError(`More than ${MAX_INTEGERS} integers are beyond 2^53.`);
		parts.push(json.slice(done, start), QUOTED_PREFIX, token, '"');
		done = start + token.length;
	}
	if (done === 0) return JSON.parse(json);
	return JSON.parse([...parts, json.slice(done)].join(''), reviveBigInt);
}

/** JSON of a value that may have parts of the type bigint. */
export function stringifyWithBigInts(value: unknown): string {
	try {
		return JSON.stringify(value);
	} catch (error) {
		if (!(error instanceof TypeError)) throw error;
		// With a function in it, this takes several times as long, so it is only done for values that need it.
		const [start, ...parts] = JSON.stringify(value, hideBigInt).split(QUOTED_PREFIX);
		// Each part starts with digits and the quote that ends them.
		return [start, ...parts.map(part => part.replace('"', ''))].join('');
	}
}

const isRounded = (token: string): boolean => /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token));

const reviveBigInt = (_key: string, value: unknown): unknown =>
	typeof value === 'string' && value.startsWith(PREFIX) ? BigInt(value.slice(PREFIX.length)) : value;

const hideBigInt = (_key: string, value: unknown): unknown =>
	typeof value === 'bigint' ? `${PREFIX}${value}` : value;
