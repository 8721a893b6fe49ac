/** Collects a body up to a limit. */
export class BodyBuffer {
	readonly #maxBytes: number;
	#chunks: Buffer[] = [];
	#length = 0;

	constructor(maxBytes: number) {
		this.#maxBytes = maxBytes;
	}

	/** Returns whether it is still within the limit; over it, nothing is kept. */
	add(chunk: Buffer): boolean {
		this.#length += chunk.length;
		if (this.#length > this.#maxBytes) this.#chunks = [];
		else this.#chunks.push(chunk);
		return !this.isTooLarge;
	}

	/** Lets go of what there is of it. */
	clear(): void {
		this.#chunks = [];
	}

	get isTooLarge(): boolean {
		return this.#length > this.#maxBytes;
	}

	get length(): number {
		return this.#length;
	}

	/** All of it in the parts that it came in, and a line feed, which makes a message of it. */
	lineChunks(): Buffer[] {
		return [...this.#chunks, LF];
	}

	bytes(): Buffer {
		const [only] = this.#chunks;
		return this.#chunks.length === 1 && only ? only : Buffer.concat(this.#chunks, this.#length);
	}
}

const LF = Buffer.from('\n');
