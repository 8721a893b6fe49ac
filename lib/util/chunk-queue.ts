/**
 * Chunks shorter than this, in bytes, are joined, since a Buffer object uses far more memory than its bytes.
 */
const SMALL_CHUNK = 4096;
/** The size of a block of joined chunks in bytes: initial and maximum. */
const [FIRST_BLOCK, MAX_BLOCK] = [1024, 65_536];

/** A FIFO queue for the chunks of a stream. Bounds the overhead of many tiny chunks from a peer. */
export class ChunkQueue {
	readonly #chunks: Buffer[] = [];
	/** The last block, which small chunks are appended to. */
	#block: Buffer | undefined;
	#used = 0;
	#bytes = 0;

	get bytes(): number {
		return this.#bytes;
	}

	get isEmpty(): boolean {
		return this.#bytes === 0;
	}

	/** The number of separate buffers. */
	get count(): number {
		return this.#chunks.length + (this.#block ? 1 : 0);
	}

	add(chunk: Buffer): void {
		this.#bytes += chunk.length;
		if (chunk.length >= SMALL_CHUNK) {
			this.#seal();
			this.#chunks.push(chunk);
			return;
		}
		if (this.#used + chunk.length > MAX_BLOCK) this.#seal();
		this.#reserve(this.#used + chunk.length).set(chunk, this.#used);
		this.#used += chunk.length;
	}

	/**
	 * Returns a block of at least this size. Blocks start small because many connections queue only a few
	 * bytes.
	 */
	#reserve(bytes: number): Buffer {
		let size = this.#block?.length ?? FIRST_BLOCK;
		while (size < bytes) size *= 2;
		if (this.#block?.length === size) return this.#block;
		const block = Buffer.allocUnsafeSlow(size);
		if (this.#block) block.set(this.#block);
		this.#block = block;
		return block;
	}

	take(): Buffer | undefined {
		if (this.#chunks.length === 0) this.#seal();
		const chunk = this.#chunks.shift();
		this.#bytes -= chunk?.length ?? 0;
		return chunk;
	}

	#seal(): void {
		if (this.#block) this.#chunks.push(this.#block.subarray(0, this.#used));
		this.#block = undefined;
		this.#used = 0;
	}
}
