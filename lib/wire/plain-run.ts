/**
 * Finds the end of a run of ordinary string bytes, sixteen at a time.
 *
 * JavaScript looks at a string byte by byte, which for a megabyte takes longer than everything else that bridge does
 * with it. This is the one loop of the message path that is worth WebAssembly: it is ten lines long, and written here
 * as the bytes that it is.
 */

/** Bytes of text that are looked at together. */
export const WINDOW = 64 * 1024;

/** Where in its memory the function finds which letters may follow a backslash, and the text. */
const ESCAPES_AT = 0;
const TEXT_AT = 256;

const loop = [0x03, 0x40];
const then = [0x04, 0x40];
const end = [0x0b];
const again = (depth: number): number[] => [0x0c, depth];
const get = (local: number): number[] => [0x20, local];
const set = (local: number): number[] => [0x21, local];
const keep = (local: number): number[] => [0x22, local];
const number = (value: number): number[] => {
	// LEB128, signed: two bytes hold up to 8191.
	return value < 64 ? [0x41, value] : [0x41, (value & 0x7f) | 0x80, value >> 7];
};
const byteAt = (offset: number): number[] => [0x2d, 0, (offset & 0x7f) | 0x80, offset >> 7];
const isZero = [0x45];
const isEqual = [0x46];
const plus = [0x6a];
const firstBit = [0x68];
const and = [0x71];
const sixteenAt = (offset: number): number[] => [0xfd, 0x00, 0, (offset & 0x7f) | 0x80, offset >> 7];
const sixteenTimes = (byte: number): number[] => [...number(byte), 0xfd, 0x0f];
const areEqual = [0xfd, 0x23];
const areAtMost = [0xfd, 0x2a];
const either = [0xfd, 0x50];
const bits = [0xfd, 0x64];

const [at, found, text, quote, backslash, control] = [0, 1, 2, 3, 4, 5];

const body = [
	...[2, 1, 0x7f, 4, 0x7b], // locals: found is a number, the others are sixteen bytes
	...[...sixteenTimes(0x22), ...set(quote)],
	...[...sixteenTimes(0x5c), ...set(backslash)],
	...[...sixteenTimes(0x1f), ...set(control)],
	...loop,
	...[...get(at), ...sixteenAt(TEXT_AT), ...set(text)],
	...[...get(text), ...get(quote), ...areEqual],
	...[...get(text), ...get(backslash), ...areEqual, ...either],
	...[...get(text), ...get(control), ...areAtMost, ...either],
	...[...bits, ...keep(found), ...isZero],
	...[...then, ...get(at), ...number(16), ...plus, ...set(at), ...again(1), ...end],
	...[...get(at), ...get(found), ...firstBit, ...plus, ...set(at)],
	...[...get(at), ...byteAt(TEXT_AT), ...number(0x5c), ...isEqual],
	...[...get(at), ...byteAt(TEXT_AT + 1), ...byteAt(ESCAPES_AT), ...and],
	...[...then, ...get(at), ...number(2), ...plus, ...set(at), ...again(1), ...end],
	...end,
	...[...get(at), ...end],
];

const section = (id: number, content: readonly number[]): number[] => [
	id,
	...length(content.length),
	...content,
];
const length = (value: number): number[] => (value < 128 ? [value] : [(value & 0x7f) | 0x80, value >> 7]);
const name = (word: string): number[] => [word.length, ...Buffer.from(word)];

const program = Uint8Array.from([
	...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
	...section(1, [1, 0x60, 1, 0x7f, 1, 0x7f]), // one type: a number to a number
	...section(3, [1, 0]), // one function, of that type
	...section(5, [1, 0, 2]), // two pages of memory
	...section(7, [2, ...name('run'), 0, 0, ...name('memory'), 2, 0]),
	...section(10, [1, ...length(body.length), ...body]),
]);

/** As much of WebAssembly's interface as is used: the compiler knows it only together with a browser's. */
declare const WebAssembly: {
	readonly Module: new (bytes: Uint8Array) => object;
	readonly Instance: new (module: object) => {readonly exports: unknown};
};

/** The function with its window on the text. */
export type PlainRun = {
	/** Where the text is put. The sixteen bytes behind it have to be zero, which ends every run. */
	readonly window: Uint8Array;
	/** The first position from `at` on with a quote, a control character, or a backslash that is no simple escape. */
	readonly run: (at: number) => number;
};

/** Compiled when it is first needed, which takes less than a millisecond. */
export function plainRun(): PlainRun {
	const {run, memory} = new WebAssembly.Instance(new WebAssembly.Module(program)).exports as {
		readonly run: PlainRun['run'];
		readonly memory: {readonly buffer: ArrayBuffer};
	};
	const escapes = new Uint8Array(memory.buffer, ESCAPES_AT, TEXT_AT);
	for (const letter of Buffer.from('"\\/bfnrt')) escapes[letter] = 1;
	return {run, window: new Uint8Array(memory.buffer, TEXT_AT, WINDOW + 16)};
}
