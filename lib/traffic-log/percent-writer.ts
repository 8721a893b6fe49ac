import {encodePercentText} from '../wire/percent-text.js';
import {wasm} from './percent/wasm.js';

/** The longest that a byte can become. */
export const MAX_ENCODED_BYTES = 3;

/** Where percent/percent.as.ts has its table, and what it reads and writes, in bytes. */
const TABLE_OFFSET = 0;
const INPUT_OFFSET = 1024;
const INPUT_BYTES = 64 * 1024;
const OUTPUT_OFFSET = INPUT_OFFSET + INPUT_BYTES;
/** It writes so far behind the end. */
const SLACK_BYTES = 4;
const PAGE_BYTES = 64 * 1024;

/** As much of WebAssembly's interface as is used: the compiler knows it only together with a browser's. */
declare const WebAssembly: {
	readonly Module: new (bytes: Uint8Array) => object;
	readonly Instance: new (module: object) => {readonly exports: unknown};
};

type PercentExports = {
	readonly memory: {readonly buffer: ArrayBuffer; grow(pages: number): void};
	write(from: number, end: number, to: number): number;
};

/**
 * Writes bytes as they stand between the quotes of a JSON string, into memory that is used again and again. That is what most
 * of a log is made of, so it is WebAssembly that does it: see percent/percent.as.ts.
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

	/** What has been written, and room for more. */
	get output(): Buffer {
		return this.#output;
	}

	/** Makes the output so long. What was in it is lost. */
	reserve(bytes: number): void {
		const {memory} = this.#exports;
		const missing = OUTPUT_OFFSET + bytes + SLACK_BYTES - memory.buffer.byteLength;
		if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES));
		this.#input = Buffer.from(memory.buffer, INPUT_OFFSET, INPUT_BYTES);
		this.#output = Buffer.from(memory.buffer, OUTPUT_OFFSET, bytes);
	}

	/** Writes bytes at a place in the output, where there has to be room, and returns where they end. */
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
