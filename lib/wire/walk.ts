import {wasm} from './walk/wasm.js';

/** Arrays and objects may be nested this deep, the message itself included: more overflows the stack of many a parser. */
export const MAX_MESSAGE_DEPTH = 1000;
/** The most values of a message: a stage that changes it parses all of them, in about 0.2 µs each. */
export const MAX_MESSAGE_VALUES = 1_000_000;
/** The longest key of a message, in bytes. walk/json.as.ts has the reason. */
export const MAX_KEY_BYTES = 16_383;

/** What a walk hands back instead of a position where the text is not JSON. */
export const INVALID = -1;

/** The keys of a message that matter, in the order of their numbers in {@link Notes}. */
export const [JSONRPC, ID, METHOD, PARAMS, RESULT, ERROR] = [0, 1, 2, 3, 4, 5] as const;

/** Where walk/message.as.ts has what it notes, in words, and the text, in bytes. */
const [HAS_HIGH_BYTES, HAS_ESCAPE, IS_TOO_DEEP, IS_REPEATED, STARTS, ENDS, MARKS, VALUES, HAS_LONG_KEY] = [
	0, 1, 2, 4, 5, 11, 17, 18, 19,
] as const;
const TEXT_OFFSET = 2048;
/** A walk looks so far behind the text. */
const SLACK = 32;
const PAGE = 65_536;
/** More memory than this is given back when it is no longer needed. */
const MAX_RETAINED_BYTES = 4 * 2 ** 20;

/** As much of WebAssembly's interface as is used: the compiler knows it only together with a browser's. */
declare const WebAssembly: {
	readonly Module: new (bytes: Uint8Array) => object;
	readonly Instance: new (module: object) => {readonly exports: unknown};
};

/** What walk/message.as.ts exports. */
type WasmExports = {
	readonly memory: {readonly buffer: ArrayBuffer; grow(pages: number): void};
	seal(end: number): void;
	scan(end: number): number;
	value(at: number, depth: number): number;
	string(at: number): number;
	colon(at: number): number;
	space(at: number): number;
};

let wasmModule: object | undefined;

/** A walk over one text at a time. All of it happens in WebAssembly: see walk/message.as.ts. */
export class Walk {
	readonly #exports: WasmExports;
	/** The text, and whatever is left behind it. */
	#text: Buffer = Buffer.alloc(0);
	#results = new Int32Array(0);

	constructor() {
		wasmModule ??= new WebAssembly.Module(Buffer.from(wasm, 'base64'));
		this.#exports = new WebAssembly.Instance(wasmModule).exports as WasmExports;
		this.#refreshViews();
	}

	get isLarge(): boolean {
		return this.#text.length > MAX_RETAINED_BYTES;
	}

	/** The text, good until the next one is taken. Whatever is behind its end is not part of it. */
	get text(): Buffer {
		return this.#text;
	}

	/** Puts a part of a text where it belongs. Returns where the next one does. */
	write(part: Buffer, at: number): number {
		const end = at + part.length;
		this.reserve(end);
		this.#text.set(part, at);
		return end;
	}

	/** Makes room for a text of this length. The text may be another Buffer then. */
	reserve(length: number): void {
		const missing = length + SLACK - this.#text.length;
		if (missing <= 0) return;
		this.#exports.memory.grow(Math.ceil(missing / PAGE));
		this.#refreshViews();
	}

	/** Walks over the text as a message that ends at `end`. Returns 1 for an object, 0 for other JSON, -1 for what is none. */
	scan(end: number): number {
		return this.#exports.scan(end);
	}

	/** Puts a text that came in parts together. Returns its length. */
	writeAll(parts: readonly Buffer[]): number {
		let at = 0;
		for (const part of parts) at = this.write(part, at);
		return at;
	}

	/** Ends the text here: it can be walked over in steps then. */
	seal(end: number): void {
		this.#exports.seal(end);
	}

	/** The position after the value that starts at `at`. */
	endOfValue(at: number): number {
		return this.#exports.value(at, 0);
	}

	/** The position after the string that opens at `at`. */
	endOfString(at: number): number {
		return this.#exports.string(at);
	}

	/** From the end of a key to the start of its value. */
	afterColon(at: number): number {
		return this.#exports.colon(at);
	}

	/** The first position from `at` on that holds no white space. */
	skipWhitespace(at: number): number {
		return this.#exports.space(at);
	}

	/** Whether a string has bytes beyond ASCII, of which it is not known then whether they are UTF-8. */
	get hasHighBytes(): boolean {
		return this.#results[HAS_HIGH_BYTES] !== 0;
	}

	/** Whether the last string has an escape, and so may be another text than it looks like. */
	get hasEscape(): boolean {
		return this.#results[HAS_ESCAPE] !== 0;
	}

	get isTooDeep(): boolean {
		return this.#results[IS_TOO_DEEP] !== 0;
	}

	/** Whether parsing the text would take too long: it has too many values, or a key that is too long. */
	get isTooComplex(): boolean {
		return (this.#results[VALUES] as number) > MAX_MESSAGE_VALUES || this.#results[HAS_LONG_KEY] !== 0;
	}

	/** Whether a key that matters is there twice: one of the message's own, or a name, uri, _meta, arguments or requestId in its params. */
	get hasRepeatedKey(): boolean {
		return this.#results[IS_REPEATED] !== 0;
	}

	/** What there is inside of the message that was scanned: see marks.ts. */
	get marks(): number {
		return this.#results[MARKS] as number;
	}

	/** Where the value of a key is in the message that was scanned; 0 where there is none. */
	startOf(key: number): number {
		return this.#results[STARTS + key] as number;
	}

	endOf(key: number): number {
		return this.#results[ENDS + key] as number;
	}

	/** The memory is another one after it grew. */
	#refreshViews(): void {
		const {buffer} = this.#exports.memory;
		this.#text = Buffer.from(buffer, TEXT_OFFSET);
		this.#results = new Int32Array(buffer, 0, HAS_LONG_KEY + 1);
	}
}

let sharedWalk: Walk | undefined;

/** The walk for a text of this length: one for all, as they come one after the other. Made when it is first needed. */
export function walkFor(length: number): Walk {
	if (!sharedWalk || (sharedWalk.isLarge && length < MAX_RETAINED_BYTES)) sharedWalk = new Walk();
	return sharedWalk;
}

/** The text of the string between two positions that include its quotes. */
export function stringAt(bytes: Buffer, start: number, end: number): string {
	const raw = bytes.toString('utf8', start + 1, end - 1);
	return raw.includes('\\') ? JSON.parse(`"${raw}"`) : raw;
}
