import {encodePercentText} from '../wire/percent-text.js';

/** The first difference: its offset, and the bytes of both sides from there. */
export type ByteDifference = {readonly offset: number; readonly recorded: string; readonly live: string};

const MAX_SHOWN_BYTES = 40;

/**
 * Compares a stream of bytes with a recorded one, independent of how either is split. Nothing is buffered.
 */
export class ByteComparer {
	readonly #recorded: Iterator<Buffer>;
	#rest: Buffer = Buffer.alloc(0);
	receivedBytes = 0;
	difference: ByteDifference | undefined;

	constructor(recorded: Iterable<Buffer>) {
		this.#recorded = recorded[Symbol.iterator]();
	}

	push(live: Buffer): void {
		let at = 0;
		while (at < live.length && !this.difference) {
			if (this.#rest.length === 0 && !this.#readNext()) {
				this.#setDifference(this.receivedBytes + at, Buffer.alloc(0), live.subarray(at));
				break;
			}
			const length = Math.min(this.#rest.length, live.length - at);
			const [expected, actual] = [this.#rest.subarray(0, length), live.subarray(at, at + length)];
			if (!expected.equals(actual)) {
				const matchingBytes = expected.findIndex((byte, index) => byte !== actual[index]);
				this.#setDifference(
					this.receivedBytes + at + matchingBytes,
					this.#rest.subarray(matchingBytes),
					live.subarray(at + matchingBytes),
				);
			}
			this.#rest = this.#rest.subarray(length);
			at += length;
		}
		this.receivedBytes += live.length;
	}

	/** Ends the stream. Missing bytes are a difference. */
	end(): void {
		if (!this.difference && (this.#rest.length > 0 || this.#readNext()))
			this.#setDifference(this.receivedBytes, this.#rest, Buffer.alloc(0));
	}

	#setDifference(at: number, recorded: Buffer, live: Buffer): void {
		const text = (bytes: Buffer): string =>
			JSON.stringify(encodePercentText(bytes.subarray(0, MAX_SHOWN_BYTES))).slice(1, -1);
		this.difference = {offset: at, recorded: text(recorded), live: text(live)};
	}

	/** Reads the next recorded chunk. Returns false at the end of the recording. */
	#readNext(): boolean {
		for (let next = this.#recorded.next(); !next.done; next = this.#recorded.next()) {
			this.#rest = next.value;
			if (this.#rest.length > 0) return true;
		}
		return false;
	}
}
