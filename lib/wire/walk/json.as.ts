import {paramBit} from './keys.as';
import {mark, markNumber} from './marks.as';
import {
	BAD,
	byte,
	HAS_LONG_KEY,
	IS_REPEATED,
	IS_TOO_DEEP,
	OPEN,
	PARAMS_SEEN,
	TEXT,
	VALUES,
} from './memory.as';
import {string} from './strings.as';

const MAX_DEPTH: usize = 1000;
/**
 * The longest string that V8 hashes completely. All longer keys of one length collide, and parsing them takes
 * quadratic time.
 */
const MAX_KEY: usize = 16_383;

/**
 * Returns the position after the value that starts at `at`, inside of `outside` containers. If `isParams`,
 * checks its direct members for repeated keys.
 */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: recursion could exhaust the stack
export function walk(at: usize, outside: usize, isParams: bool): usize {
	let depth = outside;
	let values: i32 = 0;
	while (true) {
		values++;
		const first = byte(at);
		if (first === 0x22) at = string(at);
		else if (first === 0x7b || first === 0x5b) {
			const inside = space(at + 1);
			if (depth === MAX_DEPTH) at = tooDeep(at);
			else if (byte(inside) === first + 2) at = inside + 1;
			else {
				depth++;
				store<u8>(OPEN + depth, <u8>first);
				at = first === 0x7b ? afterKey(inside, isParams && depth === outside + 1) : inside;
				if (at === BAD) return BAD;
				continue;
			}
		} else at = word(at, first);
		if (at === BAD) return BAD;
		while (true) {
			if (depth === outside) {
				store<i32>(VALUES, load<i32>(VALUES) + values);
				return at;
			}
			at = space(at);
			const next = byte(at);
			const opened: u32 = load<u8>(OPEN + depth);
			if (next === 0x2c) {
				at = space(at + 1);
				if (opened === 0x7b) at = afterKey(at, isParams && depth === outside + 1);
				if (at === BAD) return BAD;
				break;
			}
			if (next !== opened + 2) return BAD;
			depth--;
			at++;
		}
	}
	// biome-ignore lint/correctness/noUnreachable: AssemblyScript requires a return after the loop
	return BAD;
}

/** From the start of a key to the start of its value. */
function afterKey(at: usize, isParams: bool): usize {
	if (byte(at) !== 0x22) return BAD;
	const end = key(at);
	if (end === BAD) return BAD;
	if (isParams) {
		const bit = paramBit(at, end);
		const seen = load<i32>(PARAMS_SEEN);
		if ((seen & bit) !== 0) store<i32>(IS_REPEATED, 1);
		store<i32>(PARAMS_SEEN, seen | bit);
	}
	const value = colon(end);
	if (value !== BAD) mark(at, end, value);
	return value;
}

/** Returns the position after the key that opens at `at`. */
export function key(at: usize): usize {
	const end = string(at);
	if (end !== BAD && end - at > MAX_KEY + 2) store<i32>(HAS_LONG_KEY, 1);
	return end;
}

/** From the end of a key to the start of its value. */
export function colon(at: usize): usize {
	at = space(at);
	return byte(at) === 0x3a ? space(at + 1) : BAD;
}

/** Returns the first position from `at` on that is not white space. */
export function space(at: usize): usize {
	let next = byte(at);
	while (next === 0x20 || next === 0x0a || next === 0x0d || next === 0x09) next = byte(++at);
	return at;
}

function word(at: usize, first: u32): usize {
	if (first === 0x74) return load<u32>(TEXT + at) === 0x65757274 ? at + 4 : BAD;
	if (first === 0x6e) return load<u32>(TEXT + at) === 0x6c6c756e ? at + 4 : BAD;
	if (first === 0x66) return load<u32>(TEXT + at + 1) === 0x65736c61 ? at + 5 : BAD;
	return number(at);
}

function number(start: usize): usize {
	let at = byte(start) === 0x2d ? start + 1 : start;
	at = byte(at) === 0x30 ? at + 1 : digits(at);
	const hasFraction = at !== BAD && byte(at) === 0x2e;
	if (hasFraction) at = digits(at + 1);
	if (at === BAD) return BAD;
	const hasExponent = (byte(at) | 0x20) === 0x65;
	if (hasExponent) {
		const sign = byte(at + 1);
		at = digits(sign === 0x2b || sign === 0x2d ? at + 2 : at + 1);
		if (at === BAD) return BAD;
	}
	markNumber(start, at, hasFraction, hasExponent);
	return at;
}

/** Returns the position after one or more digits. */
function digits(start: usize): usize {
	let at = start;
	while (byte(at) - 0x30 < 10) at++;
	return at > start ? at : BAD;
}

/**
 * Skips values that are nested too deeply, so that the rest of the message, perhaps with its id, is still
 * scanned.
 */
function tooDeep(at: usize): usize {
	store<i32>(IS_TOO_DEEP, 1);
	for (let depth = 0; byte(at) !== 0; at++) {
		const next = byte(at);
		if (next === 0x22) {
			at = string(at);
			if (at === BAD) return BAD;
			at--;
		} else if (next === 0x7b || next === 0x5b) depth++;
		else if ((next === 0x7d || next === 0x5d) && --depth === 0) return at + 1;
	}
	return BAD;
}
