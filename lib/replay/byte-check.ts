import {toPercentText} from '../store/percent.js';

/** Where bytes differ from what was recorded, and what there is on either side. */
export type ByteDifference = {readonly at: number; readonly recorded: string; readonly live: string};

const SHOWN = 40;

/** Compares bytes with those that were recorded, chunk by chunk, however each side is cut. Nothing is kept. */
export class ByteCheck {
	readonly #recorded: Iterator<Buffer>;
	#rest: Buffer = Buffer.alloc(0);
	/** How many bytes have come. */
	count = 0;
	difference: ByteDifference | undefined;

	constructor(recorded: Iterable<Buffer>) {
		this.#recorded = recorded[Symbol.iterator]();
	}

	push(live: Buffer): void {
		let at = 0;
		while (at < live.length && !this.difference) {
			if (this.#rest.length === 0 && !this.#more()) {
				this.#differs(this.count + at, Buffer.alloc(0), live.subarray(at));
				break;
			}
			const length = Math.min(this.#rest.length, live.length - at);
			const [mine, theirs] = [this.#rest.subarray(0, length), live.subarray(at, at + length)];
			if (!mine.equals(theirs)) {
				const same = mine.findIndex((byte, index) => byte !== theirs[index]);
				this.#differs(this.count + at + same, this.#rest.subarray(same), live.subarray(at + same));
			}
			this.#rest = this.#rest.subarray(length);
			at += length;
		}
		this.count += live.length;
	}

	/** No more will come. */
	end(): void {
		if (!this.difference && (this.#rest.length > 0 || this.#more()))
			this.#differs(this.count, this.#rest, Buffer.alloc(0));
	}

	#differs(at: number, recorded: Buffer, live: Buffer): void {
		const text = (bytes: Buffer): string =>
			JSON.stringify(toPercentText(bytes.subarray(0, SHOWN))).slice(1, -1);
		this.difference = {at, recorded: text(recorded), live: text(live)};
	}

	/** Whether there is more in the recording. */
	#more(): boolean {
		for (let next = this.#recorded.next(); !next.done; next = this.#recorded.next()) {
			this.#rest = next.value;
			if (this.#rest.length > 0) return true;
		}
		return false;
	}
}
