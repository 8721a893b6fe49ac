import {byte, HAS_ESCAPE, MARKS, TEXT} from './memory.as';

// Flags for members inside of a message: see marks.ts.
const AUDIO: i32 = 1;
const LINK: i32 = 2;
const OTHER_TYPE: i32 = 4;
const LAST_MODIFIED: i32 = 8;
const STRUCTURED: i32 = 16;
const TASK: i32 = 32;
const ORIGINAL: i32 = 64;
const INEXACT: i32 = 128;
const PROGRESS: i32 = 256;
/** The marks of a key with escapes, which may be any key. */
const ALL: i32 = 127 | PROGRESS;
/** An integer with this many digits is never rounded. */
const SAFE_DIGITS: usize = 15;

/** Marks a number whose spelling may change when it is parsed and serialized. */
export function markNumber(start: usize, end: usize, hasFraction: bool, hasExponent: bool): void {
	const isMinusZero = end - start === 2 && load<u16>(TEXT + start) === 0x302d;
	const hasTail = hasFraction && byte(end - 1) === 0x30;
	if (hasExponent || hasTail || isMinusZero || end - start > SAFE_DIGITS)
		store<i32>(MARKS, load<i32>(MARKS) | INEXACT);
}

/** Marks a member by its key and value. The positions of the key include its quotes. */
export function mark(start: usize, end: usize, value: usize): void {
	const seen = load<i32>(HAS_ESCAPE) !== 0 ? ALL : marksOf(start, end - start - 2, value);
	if (seen !== 0) store<i32>(MARKS, load<i32>(MARKS) | seen);
}

function marksOf(start: usize, length: usize, value: usize): i32 {
	const letters = load<u32>(TEXT + start + 1);
	// Only the length and the first letters are compared. A wrong match merely costs a second check.
	switch (<i32>length) {
		case 4:
			if (letters === 0x65707974) return kindOf(value);
			return letters === 0x6b736174 ? TASK : 0;
		case 12:
			return letters === 0x7473616c ? LAST_MODIFIED : 0;
		case 13:
			return letters === 0x676f7270 ? PROGRESS : 0;
		case 17:
			return letters === 0x75727473 ? STRUCTURED : 0;
		case 18:
			return letters === 0x622e6f69 ? ORIGINAL : 0;
		default:
			return 0;
	}
}

/** Returns the mark of a content type; 0 for text, image and resource. */
function kindOf(value: usize): i32 {
	if (byte(value) !== 0x22) return OTHER_TYPE;
	switch (load<u32>(TEXT + value + 1)) {
		case 0x74786574:
			return byte(value + 5) === 0x22 ? 0 : OTHER_TYPE;
		case 0x67616d69:
			return load<u16>(TEXT + value + 5) === 0x2265 ? 0 : OTHER_TYPE;
		case 0x69647561:
			return load<u16>(TEXT + value + 5) === 0x226f ? AUDIO : OTHER_TYPE;
		case 0x6f736572:
			return resourceKind(value + 5);
		default:
			return OTHER_TYPE;
	}
}

/** Compares the rest of "resource" or "resource_link". */
function resourceKind(at: usize): i32 {
	if (load<u32>(TEXT + at) !== 0x65637275) return OTHER_TYPE;
	if (byte(at + 4) === 0x22) return 0;
	return load<u32>(TEXT + at + 4) === 0x6e696c5f && load<u16>(TEXT + at + 8) === 0x226b ? LINK : OTHER_TYPE;
}
