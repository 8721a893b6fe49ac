/** Small pieces are copied into blocks of this size. */
const BLOCK_BYTES = 64 * 1024;

/** Bytes that wait to be written, in few buffers. Large buffers are not copied. */
export class BufferList {
	readonly #buffers: Buffer[] = [];
	#block: Buffer = Buffer.allocUnsafe(0);
	#used = 0;
	#size = 0;

	get size(): number {
		return this.#size;
	}

	add(piece: Buffer): void {
		this.#size += piece.length;
		if (piece.length > BLOCK_BYTES / 4) {
			this.#finishBlock();
			this.#buffers.push(piece);
			return;
		}
		this.#ensureSpace(piece.length);
		this.#used += piece.copy(this.#block, this.#used);
	}

	take(): Buffer[] {
		this.#finishBlock();
		this.#size = 0;
		return this.#buffers.splice(0);
	}

	#ensureSpace(length: number): void {
		if (this.#used + length <= this.#block.length) return;
		this.#finishBlock();
		this.#block = Buffer.allocUnsafe(Math.max(BLOCK_BYTES, length));
	}

	/** The rest of the block stays in use. */
	#finishBlock(): void {
		if (this.#used === 0) return;
		this.#buffers.push(this.#block.subarray(0, this.#used));
		this.#block = this.#block.subarray(this.#used);
		this.#used = 0;
	}
}
