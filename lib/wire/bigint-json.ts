import {randomBytes} from 'node:crypto';
import {numbersIn} from './number-tokens.js';

/** Only a text with this many consecutive digits can contain an integer that a double would round. */
const MANY_DIGITS = /\d{16}/;
/** Python has the same limit, since parsing takes quadratic time. */
const MAX_DIGITS = 4300;

/** Each one takes about 3 µs. A text of 1 MiB contains at most this many. */
const MAX_INTEGERS = 2 ** 16;

/** Random, so that no input can contain it. */
const PREFIX = `\u0000${randomBytes(6).toString('hex')} `;
const QUOTED_PREFIX = JSON.stringify(PREFIX).slice(0, -1);

/**
 * Parses JSON. Integers that a double would round become bigints. Throws if there are too many of them, or if
 * one is too long.
 */
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

export function stringifyWithBigInts(value: unknown): string {
	try {
		return JSON.stringify(value);
	} catch (error) {
		if (!(error instanceof TypeError)) throw error;
		// A replacer makes this several times slower, so it is only used if necessary.
		const [start, ...parts] = JSON.stringify(value, hideBigInt).split(QUOTED_PREFIX);
		// Each part starts with digits and their closing quote.
		return [start, ...parts.map(part => part.replace('"', ''))].join('');
	}
}

const isRounded = (token: string): boolean => /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token));

const reviveBigInt = (_key: string, value: unknown): unknown =>
	typeof value === 'string' && value.startsWith(PREFIX) ? BigInt(value.slice(PREFIX.length)) : value;

const hideBigInt = (_key: string, value: unknown): unknown =>
	typeof value === 'bigint' ? `${PREFIX}${value}` : value;
