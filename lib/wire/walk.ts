import {wasm} from './walk/wasm.js';

/**
 * The maximum nesting of arrays and objects, including the message itself. Deeper nesting overflows the stack
 * of many parsers.
 */
export const MAX_MESSAGE_DEPTH = 1000;
/**
 * The maximum number of values in a message. A stage that changes a message parses all of them, in about 0.2
 * µs each.
 */
export const MAX_MESSAGE_VALUES = 1_000_000;
/** The maximum length of a key, in bytes. walk/json.as.ts explains the reason. */
export const MAX_KEY_BYTES = 16_383;

/** Returned instead of a position if the text is not JSON. */
export const INVALID = -1;

/** The top-level keys of a message, by their numbers in {@link Walk.startOf}. */
export const [JSONRPC, ID, METHOD, PARAMS, RESULT, ERROR] = [0, 1, 2, 3, 4, 5] as const;

/** Indexes of the results in the memory of walk/message.as.ts, in words. */
const [HAS_HIGH_BYTES, HAS_ESCAPE, IS_TOO_DEEP, IS_REPEATED, STARTS, ENDS, MARKS, VALUES, HAS_LONG_KEY] = [
	0, 1, 2, 4, 5, 11, 17, 18, 19,
] as const;
const TEXT_OFFSET = 2048;
/** Bytes that a walk may read beyond the text. */
const SLACK = 32;
const PAGE = 65_536;
/** A larger memory is released when it is no longer needed. */
const MAX_RETAINED_BYTES = 4 * 2 ** 20;

/** The parts of the WebAssembly API that are used. TypeScript declares them only in the DOM library. */
declare const WebAssembly: {
	readonly Module: new (bytes: Uint8Array) => object;
	readonly Instance: new (module: object) => {readonly exports: unknown};
};

/** The exports of walk/message.as.ts. */
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

/** Walks over one JSON text at a time, in WebAssembly: see walk/message.as.ts. */
export class Walk {
	readonly #exports: WasmExports;
	/** The text, followed by leftover bytes of earlier, longer texts. */
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

	/** The text, valid until the next one is written. Bytes behind its end are not part of it. */
	get text(): Buffer {
		return this.#text;
	}

	/** Writes a part of a text. Returns the position of the next part. */
	write(part: Buffer, at: number): number {
		const end = at + part.length;
		this.reserve(end);
		this.#text.set(part, at);
		return end;
	}

	/** Grows the memory for a text of this length. `text` may be another Buffer afterwards. */
	reserve(length: number): void {
		const missing = length + SLACK - this.#text.length;
		if (missing <= 0) return;
		this.#exports.memory.grow(Math.ceil(missing / PAGE));
		this.#refreshViews();
	}

	/**
	 * Scans the text as a message that ends at `end`. Returns 1 for an object, 0 for other JSON and -1 for
	 * invalid JSON.
	 */
	scan(end: number): number {
		return this.#exports.scan(end);
	}

	/** Writes a text from its parts. Returns its length. */
	writeAll(parts: readonly Buffer[]): number {
		let at = 0;
		for (const part of parts) at = this.write(part, at);
		return at;
	}

	/** Marks the end of the text. Required before `endOfValue` and the other steps. */
	seal(end: number): void {
		this.#exports.seal(end);
	}

	/** Returns the position after the value that starts at `at`. */
	endOfValue(at: number): number {
		return this.#exports.value(at, 0);
	}

	/** Returns the position after the string that opens at `at`. */
	endOfString(at: number): number {
		return this.#exports.string(at);
	}

	/** Returns the start of the value after the key that ends at `at`. */
	afterColon(at: number): number {
		return this.#exports.colon(at);
	}

	/** Returns the first position from `at` on that is not white space. */
	skipWhitespace(at: number): number {
		return this.#exports.space(at);
	}

	/** Whether a string contains non-ASCII bytes, which are not validated as UTF-8. */
	get hasHighBytes(): boolean {
		return this.#results[HAS_HIGH_BYTES] !== 0;
	}

	/** Whether the last string contains an escape, so its text differs from its bytes. */
	get hasEscape(): boolean {
		return this.#results[HAS_ESCAPE] !== 0;
	}

	get isTooDeep(): boolean {
		return this.#results[IS_TOO_DEEP] !== 0;
	}

	/** Whether parsing would take too long, since the text has too many values or a key that is too long. */
	get isTooComplex(): boolean {
		return (this.#results[VALUES] as number) > MAX_MESSAGE_VALUES || this.#results[HAS_LONG_KEY] !== 0;
	}

	/**
	 * Whether a relevant key is repeated: a top-level key, or name, uri, _meta, arguments or requestId in
	 * params.
	 */
	get hasRepeatedKey(): boolean {
		return this.#results[IS_REPEATED] !== 0;
	}

	/** Flags for members inside of the scanned message: see marks.ts. */
	get marks(): number {
		return this.#results[MARKS] as number;
	}

	/** The position of a top-level key's value in the scanned message; 0 if there is none. */
	startOf(key: number): number {
		return this.#results[STARTS + key] as number;
	}

	endOf(key: number): number {
		return this.#results[ENDS + key] as number;
	}

	/** Creates new views, since growing the memory detaches the old ones. */
	#refreshViews(): void {
		const {buffer} = this.#exports.memory;
		this.#text = Buffer.from(buffer, TEXT_OFFSET);
		this.#results = new Int32Array(buffer, 0, HAS_LONG_KEY + 1);
	}
}

let sharedWalk: Walk | undefined;

/**
 * Returns the shared walk for a text of this length. It is reused because texts are processed one at a time.
 */
export function walkFor(length: number): Walk {
	if (!sharedWalk || (sharedWalk.isLarge && length < MAX_RETAINED_BYTES)) sharedWalk = new Walk();
	return sharedWalk;
}

/** Returns the text of a string. The positions include its quotes. */
export function stringAt(bytes: Buffer, start: number, end: number): string {
	const raw = bytes.toString('utf8', start + 1, end - 1);
	return raw.includes('\\') ? JSON.parse(`"${raw}"`) : raw;
}
