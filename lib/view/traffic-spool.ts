import {close, mkdtempSync, openSync, rmSync, write} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {isoTime, nowMicroseconds} from '../util/clock.js';

/** Maximum bytes of queued writes. Further lines are dropped and counted. */
const MAX_QUEUED_BYTES = 32 * 2 ** 20;
/** Maximum size of the file. */
const MAX_SPOOL_BYTES = 512 * 2 ** 20;
const LF = Buffer.from('\n');

/**
 * Stores live traffic in an unlinked temporary file, which the system removes when the process exits. Live
 * traffic is therefore indexed and searched like a log and uses no memory.
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

	/** Adds a line without its line ending. */
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
			// A failed write, for example on a full disk, only leaves a gap in the displayed traffic.
			this.#size += error ? 0 : written;
			this.#onWritten();
			if (this.#queue.length > 0) this.#write();
		});
	}
}

const gapLine = (lines: number): Buffer =>
	Buffer.from(`{"time":"${isoTime(nowMicroseconds())}","event":"gap","lines":${lines}}`);
