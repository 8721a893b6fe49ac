export class BodyBuffer {
	readonly #maxBytes: number;
	#chunks: Buffer[] = [];
	#length = 0;

	constructor(maxBytes: number) {
		this.#maxBytes = maxBytes;
	}

	/** Returns false if the body is over the limit. Its chunks are then dropped. */
	add(chunk: Buffer): boolean {
		this.#length += chunk.length;
		if (this.#length > this.#maxBytes) this.#chunks = [];
		else this.#chunks.push(chunk);
		return !this.isTooLarge;
	}

	clear(): void {
		this.#chunks = [];
	}

	get isTooLarge(): boolean {
		return this.#length > this.#maxBytes;
	}

	get length(): number {
		return this.#length;
	}

	/** The chunks as they arrived, followed by a line feed, which completes a message. */
	lineChunks(): Buffer[] {
		return [...this.#chunks, LF];
	}

	bytes(): Buffer {
		const [only] = this.#chunks;
		return this.#chunks.length === 1 && only ? only : Buffer.concat(this.#chunks, this.#length);
	}
}

const LF = Buffer.from('\n');
