import {byte, HAS_ESCAPE, KEY, TEXT} from './memory.as';
import {hexDigit, unescaped} from './strings.as';

/** The number of known keys: jsonrpc, id, method, params, result and error, in the order of their numbers. */
export const KEYS: i32 = 6;
export const PARAMS: i32 = 3;
const LONGEST_KEY: usize = 9;

let keyAt: usize = 0;
let keyLength: usize = 0;

/**
 * Returns the number of the key that was read last, or KEYS if it is unknown. The positions include its
 * quotes.
 */
export function knownKey(start: usize, end: usize): i32 {
	readKey(start, end);
	if (keyLength === 2) return load<u16>(keyAt) === 0x6469 ? 1 : KEYS;
	switch (load<u32>(keyAt)) {
		case 0x6e6f736a:
			return endsWith(0x6370726e, 7) ? 0 : KEYS;
		case 0x6874656d:
			return endsWith(0x646f6874, 6) ? 2 : KEYS;
		case 0x61726170:
			return endsWith(0x736d6172, 6) ? PARAMS : KEYS;
		case 0x75736572:
			return endsWith(0x746c7573, 6) ? 4 : KEYS;
		case 0x6f727265:
			return endsWith(0x726f7272, 5) ? 5 : KEYS;
		default:
			return KEYS;
	}
}

/**
 * Returns a bit for each member of params that must not be repeated: name, uri, _meta, arguments and
 * requestId; 0 for others.
 */
export function paramBit(start: usize, end: usize): i32 {
	readKey(start, end);
	const first = load<u32>(keyAt);
	if (keyLength === 3) return (first & 0xffffff) === 0x697275 ? 2 : 0;
	switch (first) {
		case 0x656d616e:
			return keyLength === 4 ? 1 : 0;
		case 0x74656d5f:
			return endsWith(0x6174656d, 5) ? 4 : 0;
		case 0x75677261:
			return endsWith(0x73746e65, 9) && load<u32>(keyAt + 4) === 0x746e656d ? 8 : 0;
		case 0x75716572:
			return endsWith(0x64497473, 9) && load<u32>(keyAt + 4) === 0x49747365 ? 16 : 0;
		default:
			return 0;
	}
}

/** Whether the last key has this length and these last four letters. */
function endsWith(letters: u32, length: usize): bool {
	return keyLength === length && load<u32>(keyAt + length - 4) === letters;
}

/** Locates the text of the last string, and decodes it if it has escapes. */
function readKey(start: usize, end: usize): void {
	keyAt = TEXT + start + 1;
	keyLength = end - start - 2;
	if (load<i32>(HAS_ESCAPE) !== 0) decodeKey(start + 1, end - 1);
}

/** Decodes a key up to the length of the longest known key. Known keys are ASCII. */
function decodeKey(at: usize, end: usize): void {
	keyAt = KEY;
	for (keyLength = 0; at < end && keyLength <= LONGEST_KEY; keyLength++) {
		let letter = byte(at);
		if (letter !== 0x5c) at++;
		else if (byte(at + 1) !== 0x75) {
			letter = unescaped(byte(at + 1));
			at += 2;
		} else {
			letter = 0;
			for (let digit = at + 2; digit < at + 6; digit++) letter = (letter << 4) | hexDigit(byte(digit));
			at += 6;
		}
		store<u8>(KEY + keyLength, <u8>min<u32>(letter, 0xff));
	}
}
