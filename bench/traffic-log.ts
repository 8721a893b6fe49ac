import {closeSync, existsSync, openSync, readSync, statSync, truncateSync} from 'node:fs';
import {setTimeout as sleep} from 'node:timers/promises';

export interface LogCheck {
	expected: number;
	messages: number;
	gaps: number;
	longestDrainMs: number;
}

const POLL_MS = 20;
const STILL_POLLS = 3;
// Longer than bridge's flush interval.
const LAST_LINES_MS = 2500;
const LONGEST_DRAIN_MS = 15_000;
const CHUNK = 1 << 20;
const NEWLINE = 10;
const HEAD = 200;

/**
 * Reads the log of a target after each slice. A log written asynchronously could look fast by falling
 * behind or by dropping lines. So after each slice the bench waits for it, counts its messages, and
 * empties the file, since five rounds would fill a small disk.
 */
export class TrafficLog {
	readonly #file: string;
	readonly check: LogCheck = {expected: 0, messages: 0, gaps: 0, longestDrainMs: 0};
	#end = 0;

	constructor(file: string) {
		this.#file = file;
	}

	/** Time of the last write to the file, in ms since the epoch. */
	get writtenAt(): number {
		return statSync(this.#file, {throwIfNoEntry: false})?.mtimeMs ?? Date.now();
	}

	/** Waits until the file no longer grows. */
	async drain(): Promise<void> {
		const start = performance.now();
		let size = this.#size();
		let lastGrowth = start;
		for (let still = 0; still < STILL_POLLS && performance.now() - start < LONGEST_DRAIN_MS; still++) {
			await sleep(POLL_MS);
			const now = this.#size();
			if (now !== size) {
				size = now;
				lastGrowth = performance.now();
				still = -1;
			}
		}
		this.check.longestDrainMs = Math.max(this.check.longestDrainMs, lastGrowth - start);
	}

	/** Counts the messages since the last call, and empties the file. */
	collect(expected: number): void {
		this.check.expected += expected;
		if (!existsSync(this.#file)) {
			return;
		}
		const size = this.#size();
		const handle = openSync(this.#file, 'r');
		try {
			this.#count(handle, this.#start(handle), size);
		} finally {
			closeSync(handle);
		}
		this.#end = size;
		truncateSync(this.#file, 0);
	}

	/** Counts the rest after the end of the traffic. */
	async finish(): Promise<void> {
		await sleep(LAST_LINES_MS);
		this.collect(0);
	}

	/** Empties the file without counting: messages before the first slice are not checked. */
	async reset(): Promise<void> {
		await this.drain();
		this.collect(0);
		Object.assign(this.check, {expected: 0, messages: 0, gaps: 0, longestDrainMs: 0});
	}

	#size(): number {
		return existsSync(this.#file) ? statSync(this.#file).size : 0;
	}

	// A writer that does not append continues at its old offset in the emptied file, after a hole of zeros.
	#start(handle: number): number {
		const first = Buffer.alloc(1);
		return readSync(handle, first, 0, 1, 0) === 1 && first[0] === 0 ? this.#end : 0;
	}

	// Reads only the start of each line, since lines may have megabytes.
	#count(handle: number, start: number, size: number): void {
		const chunk = Buffer.alloc(CHUNK);
		let head = '';
		for (let at = start; at < size; ) {
			const read = readSync(handle, chunk, 0, CHUNK, at);
			if (read === 0) {
				return;
			}
			head = this.#countChunk(chunk.subarray(0, read), head);
			at += read;
		}
	}

	#countChunk(chunk: Buffer, carried: string): string {
		let head = carried;
		let from = 0;
		for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
			this.#line(head + chunk.toString('latin1', from, Math.min(end, from + HEAD)));
			head = '';
			from = end + 1;
		}
		return (head + chunk.toString('latin1', from, Math.min(chunk.length, from + HEAD))).slice(0, HEAD);
	}

	#line(head: string): void {
		this.check.messages += head.includes('"message":') ? 1 : 0;
		this.check.gaps += head.includes('"event":"gap"') ? 1 : 0;
	}
}
