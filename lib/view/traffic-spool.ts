import {close, mkdtempSync, openSync, rmSync, write} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {isoTime, nowMicroseconds} from '../util/clock.js';

/** What may wait to be written. More is left out, and counted. */
const MAX_QUEUED_BYTES = 32 * 2 ** 20;
/** A file that is longer takes no more. */
const MAX_SPOOL_BYTES = 512 * 2 ** 20;
const LF = Buffer.from('\n');

/**
 * Lines of live traffic in a file without a name, which is gone with the process that has it. So the traffic is indexed and
 * searched as a log is, and costs no memory.
 */
export class TrafficSpool {
	readonly fd: number;
	readonly #onWritten: () => void;
	readonly #maxBytes: number;
	#queue: Buffer[] = [];
	#queuedBytes = 0;
	#size = 0;
	#droppedLines = 0;
	#isWriting = false;
	#isClosed = false;

	constructor(onWritten: () => void, maxBytes = MAX_SPOOL_BYTES) {
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
		if (this.#queuedBytes + line.length > MAX_QUEUED_BYTES) {
			this.#droppedLines++;
			return;
		}
		if (this.#droppedLines > 0) this.#enqueue(gapLine(this.#droppedLines));
		this.#droppedLines = 0;
		this.#enqueue(line);
		if (!this.#isWriting) this.#write();
	}

	close(): void {
		this.#isClosed = true;
		this.#queue = [];
		if (!this.#isWriting) close(this.fd);
	}

	#enqueue(line: Buffer): void {
		this.#queue.push(line, LF);
		this.#queuedBytes += line.length + 1;
	}

	#write(): void {
		const bytes = Buffer.concat(this.#queue);
		this.#queue = [];
		this.#isWriting = true;
		write(this.fd, bytes, 0, bytes.length, this.#size, (error, written) => {
			this.#isWriting = false;
			this.#queuedBytes -= bytes.length;
			if (this.#isClosed) {
				close(this.fd);
				return;
			}
			// What could not be written, as the disk is full say, is a hole in what is shown and nothing worse.
			this.#size += error ? 0 : written;
			this.#onWritten();
			if (this.#queue.length > 0) this.#write();
		});
	}
}

const gapLine = (lines: number): Buffer =>
	Buffer.from(`{"time":"${isoTime(nowMicroseconds())}","event":"gap","lines":${lines}}`);
