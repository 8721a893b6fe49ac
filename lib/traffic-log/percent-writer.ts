import {encodePercentText} from '../wire/percent-text.js';
import {wasm} from './percent/wasm.js';

/** Maximum length of the text of one byte. */
export const MAX_ENCODED_BYTES = 3;

/** The memory layout of percent/percent.as.ts: its table, its input and its output, in bytes. */
const TABLE_OFFSET = 0;
const INPUT_OFFSET = 1024;
const INPUT_BYTES = 64 * 1024;
const OUTPUT_OFFSET = INPUT_OFFSET + INPUT_BYTES;
/** The module may write this many bytes past the end. */
const SLACK_BYTES = 4;
const PAGE_BYTES = 64 * 1024;

/** The used part of the WebAssembly interface. TypeScript declares it only in the DOM library. */
declare const WebAssembly: {
	readonly Module: new (bytes: Uint8Array) => object;
	readonly Instance: new (module: object) => {readonly exports: unknown};
};

type PercentExports = {
	readonly memory: {readonly buffer: ArrayBuffer; grow(pages: number): void};
	write(from: number, end: number, to: number): number;
};

/**
 * Writes bytes as they appear between the quotes of a JSON string, into reused memory. Most of a log consists
 * of them, so this is done in WebAssembly: see percent/percent.as.ts.
 */
export class PercentWriter {
	readonly #exports: PercentExports;
	#input = Buffer.alloc(0);
	#output = Buffer.alloc(0);

	constructor(outputBytes: number) {
		const module = new WebAssembly.Module(Buffer.from(wasm, 'base64'));
		this.#exports = new WebAssembly.Instance(module).exports as PercentExports;
		this.reserve(outputBytes);
		const table = new DataView(this.#exports.memory.buffer, TABLE_OFFSET);
		for (let byte = 0; byte < 256; byte++) {
			const text = JSON.stringify(encodePercentText(Uint8Array.of(byte))).slice(1, -1);
			for (let at = 0; at < text.length; at++) table.setUint8(4 * byte + at, text.charCodeAt(at));
			table.setUint8(4 * byte + 3, text.length);
		}
	}

	get output(): Buffer {
		return this.#output;
	}

	/** Resizes the output. Its content is lost. */
	reserve(bytes: number): void {
		const {memory} = this.#exports;
		const missing = OUTPUT_OFFSET + bytes + SLACK_BYTES - memory.buffer.byteLength;
		if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES));
		this.#input = Buffer.from(memory.buffer, INPUT_OFFSET, INPUT_BYTES);
		this.#output = Buffer.from(memory.buffer, OUTPUT_OFFSET, bytes);
	}

	/** Writes bytes at an offset of the output, which has to be large enough. Returns their end. */
	write(bytes: Buffer, offset: number): number {
		let end = OUTPUT_OFFSET + offset;
		for (let start = 0; start < bytes.length; start += INPUT_BYTES) {
			const {length} = bytes.subarray(start, start + INPUT_BYTES);
			bytes.copy(this.#input, 0, start, start + length);
			end = this.#exports.write(INPUT_OFFSET, INPUT_OFFSET + length, end);
		}
		return end - OUTPUT_OFFSET;
	}
}
