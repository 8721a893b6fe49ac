import {close, mkdtempSync, openSync, rmSync, write} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {isoTime, microseconds} from '../store/clock.js';

/** What may wait to be written. More is left out, and counted. */
const MAX_WAITING = 32 * 2 ** 20;
/** A file that is longer takes no more. */
export const MAX_SPOOL = 512 * 2 ** 20;
const LF = Buffer.from('\n');

/**
 * Lines of live traffic in a file without a name, which is gone with the process that has it. So the traffic is indexed and
 * searched as a log is, and costs no memory.
 */
export class Spool {
	readonly fd: number;
	readonly #onWritten: () => void;
	readonly #maxBytes: number;
	#waiting: Buffer[] = [];
	#waitingBytes = 0;
	#size = 0;
	#leftOut = 0;
	#isWriting = false;
	#isClosed = false;

	constructor(onWritten: () => void, maxBytes = MAX_SPOOL) {
		this.#onWritten = onWritten;
		this.#maxBytes = maxBytes;
		const folder = mkdtempSync(join(tmpdir(), 'bridge-view-'));
		this.fd = openSync(join(folder, 'traffic.ndjson'), 'wx+', 0o600);
		rmSync(folder, {recursive: true});
	}

	get isFull(): boolean {
		return this.#size >= this.#maxBytes;
	}

	/** Adds a line, without its end. */
	add(line: Buffer): void {
		if (this.#isClosed) return;
		if (this.#waitingBytes + line.length > MAX_WAITING) {
			this.#leftOut++;
			return;
		}
		if (this.#leftOut > 0) this.#put(gap(this.#leftOut));
		this.#leftOut = 0;
		this.#put(line);
		if (!this.#isWriting) this.#write();
	}

	close(): void {
		this.#isClosed = true;
		this.#waiting = [];
		if (!this.#isWriting) close(this.fd);
	}

	#put(line: Buffer): void {
		this.#waiting.push(line, LF);
		this.#waitingBytes += line.length + 1;
	}

	#write(): void {
		const bytes = Buffer.concat(this.#waiting);
		this.#waiting = [];
		this.#isWriting = true;
		write(this.fd, bytes, 0, bytes.length, this.#size, (error, written) => {
			this.#isWriting = false;
			this.#waitingBytes -= bytes.length;
			if (this.#isClosed) {
				close(this.fd);
				return;
			}
			// What could not be written, as the disk is full say, is a hole in what is shown and nothing worse.
			this.#size += error ? 0 : written;
			this.#onWritten();
			if (this.#waiting.length > 0) this.#write();
		});
	}
}

const gap = (lines: number): Buffer =>
	Buffer.from(`{"time":"${isoTime(microseconds())}","event":"gap","lines":${lines}}`);
