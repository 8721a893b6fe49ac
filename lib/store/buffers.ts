/** Small pieces are copied into blocks of this size. */
const BLOCK = 64 * 1024;

/** Bytes that wait to be written, in as few buffers as can be, without copying the large ones. */
export class Buffers {
	readonly #full: Buffer[] = [];
	#block: Buffer = Buffer.allocUnsafe(0);
	#used = 0;
	#size = 0;

	get size(): number {
		return this.#size;
	}

	add(piece: Buffer): void {
		this.#size += piece.length;
		if (piece.length > BLOCK / 4) {
			this.#seal();
			this.#full.push(piece);
			return;
		}
		this.#makeRoom(piece.length);
		this.#used += piece.copy(this.#block, this.#used);
	}

	/** Everything so far, which is no longer here afterwards. */
	take(): Buffer[] {
		this.#seal();
		this.#size = 0;
		return this.#full.splice(0);
	}

	#makeRoom(length: number): void {
		if (this.#used + length <= this.#block.length) return;
		this.#seal();
		this.#block = Buffer.allocUnsafe(Math.max(BLOCK, length));
	}

	/** The rest of the block stays in use. */
	#seal(): void {
		if (this.#used === 0) return;
		this.#full.push(this.#block.subarray(0, this.#used));
		this.#block = this.#block.subarray(this.#used);
		this.#used = 0;
	}
}
