import {joinAdjacent} from './join-adjacent.js';

/** Bytes of each end that are kept of a message over the limit, enough to find most ids. */
export const EDGE_BYTES = 4096;

/**
 * Beyond this number, small parts are copied into blocks. Otherwise a message received byte by byte would use
 * a Buffer object per byte.
 */
const MAX_SEPARATE_PARTS = 32;
const SMALL_PART_BYTES = 16 * 1024;
const BLOCK_BYTES = 64 * 1024;

const EMPTY: Buffer = Buffer.alloc(0);

/** Collects the parts of one message. If it exceeds `maxBytes`, only its two ends are kept. */
export class ChunkBuffer {
	readonly #maxBytes: number;
	#parts: Buffer[] = [];
	#size = 0;
	/** The last part if it is a block allocated here, and the number of bytes used. */
	#block: Buffer | undefined;
	#used = 0;
	#start: Buffer = EMPTY;
	#end: Buffer = EMPTY;

	constructor(maxBytes: number) {
		this.#maxBytes = maxBytes;
	}

	get size(): number {
		return this.#size;
	}

	get isEmpty(): boolean {
		return this.#size === 0;
	}

	get isTooLarge(): boolean {
		return this.#size > this.#maxBytes;
	}

	/** The first bytes of a message that is too large. */
	get start(): Buffer {
		return this.#start;
	}

	/** The last bytes of a message that is too large. */
	get end(): Buffer {
		return this.#end;
	}

	add(part: Buffer): void {
		const wasTooLarge = this.isTooLarge;
		this.#size += part.length;
		if (!this.isTooLarge) {
			this.#append(part);
			return;
		}
		const parts = wasTooLarge ? [this.#end, part] : [...this.#finishBlock(), part];
		if (!wasTooLarge) this.#start = firstBytes(parts);
		this.#end = lastBytes(parts);
		this.#parts = [];
	}

	/** Returns the parts, which must not be modified. */
	parts(): Buffer[] {
		return this.#finishBlock();
	}

	joined(): Buffer {
		const parts = this.#finishBlock();
		return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, this.#size);
	}

	clear(): void {
		this.#parts = [];
		this.#size = 0;
		this.#block = undefined;
		this.#used = 0;
		this.#start = EMPTY;
		this.#end = EMPTY;
	}

	#append(part: Buffer): void {
		if (part.length >= SMALL_PART_BYTES || this.#parts.length < MAX_SEPARATE_PARTS) {
			const parts = this.#finishBlock();
			const last = parts.at(-1);
			const longer = last && joinAdjacent(last, part);
			if (longer) parts[parts.length - 1] = longer;
			else parts.push(part);
			return;
		}
		if (!this.#block || this.#used + part.length > BLOCK_BYTES) {
			this.#finishBlock();
			this.#block = Buffer.allocUnsafe(BLOCK_BYTES);
		}
		this.#used += part.copy(this.#block, this.#used);
	}

	/** Returns the parts, including the current block. */
	#finishBlock(): Buffer[] {
		if (this.#block) this.#parts.push(this.#block.subarray(0, this.#used));
		this.#block = undefined;
		this.#used = 0;
		return this.#parts;
	}
}

/** Copies the bytes, since a slice would keep the whole message in memory. */
function firstBytes(parts: readonly Buffer[]): Buffer {
	const start = Buffer.alloc(EDGE_BYTES);
	let used = 0;
	for (const part of parts) used += part.copy(start, used);
	return start.subarray(0, used);
}

function lastBytes(parts: readonly Buffer[]): Buffer {
	const end: Buffer[] = [];
	let missing = EDGE_BYTES;
	for (let index = parts.length - 1; index >= 0 && missing > 0; index--) {
		const last = (parts[index] as Buffer).subarray(-missing);
		end.unshift(last);
		missing -= last.length;
	}
	return Buffer.concat(end);
}
