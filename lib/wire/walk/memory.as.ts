// The memory layout of the module. Addresses are in bytes.

/** Returned instead of a position if the text is not JSON. */
export const BAD: usize = <usize>-1;

// Results, one word each, which walk.ts reads.
export const HAS_HIGH_BYTES: usize = 0;
export const HAS_ESCAPE: usize = 4;
export const IS_TOO_DEEP: usize = 8;
export const PARAMS_SEEN: usize = 12;
export const IS_REPEATED: usize = 16;
export const STARTS: usize = 20;
export const ENDS: usize = 44;
export const MARKS: usize = 68;
/** The number of values, and whether a key is over the limit. */
export const VALUES: usize = 72;
export const HAS_LONG_KEY: usize = 76;

/** The last key, if it had to be decoded. */
export const KEY: usize = 128;
/** A stack of the opening bytes of the current containers. */
export const OPEN: usize = 256;
/** The text. Positions are relative to this address. */
export const TEXT: usize = 2048;

export function byte(at: usize): u32 {
	return load<u8>(TEXT + at);
}
