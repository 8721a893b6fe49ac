import {byte, HAS_ESCAPE, MARKS, TEXT} from './memory.as';

// What is noted of the members inside of a message, so that nobody has to look for them again. See marks.ts.
const AUDIO: i32 = 1;
const LINK: i32 = 2;
const OTHER_TYPE: i32 = 4;
const LAST_MODIFIED: i32 = 8;
const STRUCTURED: i32 = 16;
const TASK: i32 = 32;
const ORIGINAL: i32 = 64;
const INEXACT: i32 = 128;
const PROGRESS: i32 = 256;
/** Whatever a key may say. */
const ALL: i32 = 127 | PROGRESS;
/** No number of so many digits is rounded. */
const SAFE_DIGITS: usize = 15;

/** Notes a number that may not come back from a parser as it is written between two positions. */
export function markNumber(start: usize, end: usize, hasFraction: bool, hasExponent: bool): void {
	const isMinusZero = end - start === 2 && load<u16>(TEXT + start) === 0x302d;
	const hasTail = hasFraction && byte(end - 1) === 0x30;
	if (hasExponent || hasTail || isMinusZero || end - start > SAFE_DIGITS)
		store<i32>(MARKS, load<i32>(MARKS) | INEXACT);
}

/** Notes a member by its key, which is written between two positions that include its quotes, and by its value. */
export function mark(start: usize, end: usize, value: usize): void {
	const seen = load<i32>(HAS_ESCAPE) !== 0 ? ALL : marksOf(start, end - start - 2, value);
	if (seen !== 0) store<i32>(MARKS, load<i32>(MARKS) | seen);
}

function marksOf(start: usize, length: usize, value: usize): i32 {
	const letters = load<u32>(TEXT + start + 1);
	// By length and first letters: what only looks like it costs no more than a second look.
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

/** The kind of content that a value names; text, image and resource are nothing to note. */
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

/** The rest of resource, or of resource_link. */
function resourceKind(at: usize): i32 {
	if (load<u32>(TEXT + at) !== 0x65637275) return OTHER_TYPE;
	if (byte(at + 4) === 0x22) return 0;
	return load<u32>(TEXT + at + 4) === 0x6e696c5f && load<u16>(TEXT + at + 8) === 0x226b ? LINK : OTHER_TYPE;
}
