import {BAD, byte, HAS_ESCAPE, HAS_HIGH_BYTES, TEXT} from './memory.as';

/** Returns the position after the string that opens at `at`. */
export function string(at: usize): usize {
	const quote = i8x16.splat(0x22);
	const backslash = i8x16.splat(0x5c);
	const control = i8x16.splat(0x1f);
	let high: i32 = 0;
	let hasEscape: i32 = 0;
	at++;
	while (true) {
		const text = v128.load(TEXT + at);
		const special = v128.or(i8x16.eq(text, quote), i8x16.eq(text, backslash));
		const found = i8x16.bitmask(v128.or(special, i8x16.le_u(text, control)));
		if (found === 0) {
			high |= i8x16.bitmask(text);
			at += 16;
			continue;
		}
		const plain = ctz(found);
		high |= i8x16.bitmask(text) & ((1 << plain) - 1);
		at += plain;
		if (byte(at) !== 0x5c) break;
		hasEscape = 1;
		at = afterEscape(at);
		if (at === BAD) return BAD;
	}
	if (high !== 0) store<i32>(HAS_HIGH_BYTES, 1);
	store<i32>(HAS_ESCAPE, hasEscape);
	return byte(at) === 0x22 ? at + 1 : BAD;
}

/** Returns the position after the escape at `at`. */
function afterEscape(at: usize): usize {
	const letter = byte(at + 1);
	if (unescaped(letter) !== 0) return at + 2;
	if (letter !== 0x75) return BAD;
	for (let digit = at + 2; digit < at + 6; digit++) if (hexDigit(byte(digit)) > 15) return BAD;
	return at + 6;
}

/** Returns the character of a simple escape; 0 for other letters. */
export function unescaped(letter: u32): u32 {
	if (letter === 0x6e) return 0x0a;
	if (letter === 0x22 || letter === 0x5c || letter === 0x2f) return letter;
	if (letter === 0x74) return 0x09;
	if (letter === 0x72) return 0x0d;
	if (letter === 0x62) return 0x08;
	return letter === 0x66 ? 0x0c : 0;
}

/** Returns the value of a hexadecimal digit; more than 15 for other characters. */
export function hexDigit(digit: u32): u32 {
	if (digit - 0x30 < 10) return digit - 0x30;
	const letter = (digit | 0x20) - 0x61;
	return letter < 6 ? letter + 10 : 16;
}
