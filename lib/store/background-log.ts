import {Worker} from 'node:worker_threads';
import type {Origin} from '../envelope.js';
import {logWorker} from '../run-time-files.js';
import {microseconds} from './clock.js';
import type {FromWorker, LogSettings, ToWorker} from './log-messages.js';
import {type Line, recordOf, recordSize, writeRecord} from './records.js';
import type {Destination} from './traffic-log.js';

export type BackgroundLogOptions = LogSettings & {
	/** The module of the thread that logs, where it does not lie beside this one. */
	readonly worker?: URL | undefined;
	/** Writes to stdout. Rejects when nobody reads that any more. */
	readonly stdout: (bytes: Uint8Array) => Promise<void>;
	/** Told when writing fails, and when it works again. */
	readonly onTrouble: (destination: number, sentence: string, leftOutLines: number) => void;
	/** Told if the thread died, which nobody has foreseen. Nothing is logged then. */
	readonly onBug: (error: Error) => void;
};

/** How a destination ended. */
export type Closed = {readonly lostBytes: number; readonly leftOutLines: number};

/** Eight of the longest chunks that are read, with what stands around them. */
const BLOCK = 2 ** 20 + 2 ** 12;
/** How long lines wait for more to be handed over together: no longer, and a part of the time until they are written. */
const HAND_OVER_MS = 500;
const HAND_OVER_PART = 1 / 4;
/** Blocks that are kept for the next lines: memory that is new has to be cleared by the system first. */
const MAX_SPARE = 256;
const FEW_SPARE = 4;
/** How much may be on its way to the thread; where traffic can wait, no more than in the buffer, as it is memory beside it. */
const MAX_AWAY = 64 * 2 ** 20;
const MAX_AWAY_WAITING = 16 * 2 ** 20;

/**
 * The traffic log, kept by a thread of its own: many destinations, each with its buffer. What is added here is only copied,
 * into blocks that are handed over when they are full, or old.
 */
export class BackgroundLog {
	readonly #options: BackgroundLogOptions;
	readonly #worker: Worker;
	/** What is to be done when a destination has ended, by its number. */
	readonly #closing = new Map<number, (closed: Closed) => void>();
	#open = new Set<number>();
	#lastKey = 0;
	/** Before anybody has said where to, lines wait. */
	#isUndecided = true;
	#block = Buffer.alloc(0);
	#used = 0;
	readonly #spare: ArrayBuffer[] = [];
	readonly #handOverMs: number;
	readonly #blockBytes: number;
	readonly #maxAway: number;
	#timer: NodeJS.Timeout | undefined;
	#awayBytes = 0;
	#isFull = false;
	#gap = {lines: 0, bytes: 0};
	readonly #held: Array<() => void> = [];

	constructor(options: BackgroundLogOptions) {
		this.#options = options;
		this.#handOverMs = Math.min(HAND_OVER_MS, options.flushMs * HAND_OVER_PART);
		const {worker = logWorker, flushMs, maxBytes, onFull} = options;
		this.#blockBytes = Math.min(BLOCK, maxBytes);
		this.#maxAway = onFull === 'wait' ? Math.min(MAX_AWAY_WAITING, maxBytes) : MAX_AWAY;
		this.#worker = new Worker(worker, {workerData: {flushMs, maxBytes, onFull} satisfies LogSettings});
		this.#worker.on('message', (message: FromWorker) => this.#hear(message));
		this.#worker.on('error', error => this.#die(error));
		this.#worker.unref();
	}

	/** Whether anybody wants lines. */
	get isOn(): boolean {
		return this.#isUndecided || this.#open.size > 0;
	}

	/** Adds a line, with the present time. `origin` is who waits where traffic waits for a log that is full. */
	add(line: Line, origin?: Origin): void {
		if (!this.isOn) return;
		const size = recordSize(line);
		const hasRoom = this.#used + size <= this.#block.length;
		if (this.#isLeftOut(size, hasRoom, origin)) return;
		if (!hasRoom) {
			this.#handOver();
			this.#block = this.#newBlock(size);
		}
		this.#used = writeRecord(this.#block, this.#used, microseconds(), line);
		this.#timer ??= setTimeout(() => this.#handOverInTime(), this.#handOverMs);
	}

	/** Begins to log to a place, and returns its number. */
	open(destination: Destination | 'stdout'): number {
		if (!this.#isUndecided) this.#handOver();
		this.#isUndecided = false;
		const key = ++this.#lastKey;
		this.#open.add(key);
		this.#tell({kind: 'open', key, destination});
		return key;
	}

	/** Adds a last line for one destination, writes all that waits for it, and ends it. */
	close(key: number, last?: Line): Promise<Closed> {
		this.#handOver();
		if (!this.#open.delete(key)) return Promise.resolve({lostBytes: 0, leftOutLines: 0});
		return new Promise(resolve => {
			this.#closing.set(key, resolve);
			this.#refWhileNeeded();
			this.#tell({kind: 'close', key, last: last && recordOf(microseconds(), last)});
		});
	}

	/** Ends the thread. What has not been closed by then is lost. */
	async end(): Promise<void> {
		clearTimeout(this.#timer);
		this.#isUndecided = false;
		this.#open.clear();
		this.#release();
		await this.#worker.terminate();
	}

	/** Whether a line is counted instead of kept; if not, its origin may have to wait. */
	#isLeftOut(bytes: number, hasRoom: boolean, origin: Origin | undefined): boolean {
		const isFull = this.#isFull || this.#awayBytes > this.#maxAway;
		const isWaiting = this.#options.onFull === 'wait';
		if (isFull && isWaiting && origin) {
			this.#held.push(origin.valve.shut());
			this.#refWhileNeeded();
		}
		// There is one block until it is decided where lines go.
		const isBlocked = this.#isUndecided && !hasRoom && this.#used > 0;
		if (!isBlocked && (!isFull || isWaiting)) return false;
		// A gap is told before the block that it is handed over with, and what is in this one came earlier.
		if (this.#gap.lines === 0) this.#handOver();
		this.#gap = {lines: this.#gap.lines + 1, bytes: this.#gap.bytes + bytes};
		return true;
	}

	#newBlock(size: number): Buffer<ArrayBuffer> {
		const spare = size <= this.#blockBytes ? this.#spare.pop() : undefined;
		return spare ? Buffer.from(spare) : Buffer.allocUnsafeSlow(Math.max(this.#blockBytes, size));
	}

	/** Where a block is not filled in time, there is little traffic, which needs little memory. */
	#handOverInTime(): void {
		this.#handOver();
		this.#spare.splice(FEW_SPARE);
	}

	#handOver(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		const gap = this.#gap.lines > 0 ? this.#gap : undefined;
		if (this.#isUndecided || (this.#used === 0 && !gap)) return;
		const block = new Uint8Array(this.#block.buffer, 0, this.#used);
		this.#gap = {lines: 0, bytes: 0};
		this.#awayBytes += this.#used;
		this.#block = Buffer.alloc(0);
		this.#used = 0;
		this.#tell({kind: 'records', block, gap}, [block.buffer]);
	}

	#tell(message: ToWorker, transfer: readonly ArrayBuffer[] = []): void {
		this.#worker.postMessage(message, transfer);
	}

	#hear(message: FromWorker): void {
		switch (message.kind) {
			case 'taken':
				this.#awayBytes -= message.bytes;
				this.#releaseIfRoom();
				break;
			case 'spare':
				if (message.memory.byteLength === this.#blockBytes && this.#spare.length < MAX_SPARE)
					this.#spare.push(message.memory);
				break;
			case 'full':
				this.#isFull = message.isFull;
				this.#releaseIfRoom();
				break;
			case 'trouble':
				this.#options.onTrouble(message.key, message.sentence, message.leftOutLines);
				break;
			case 'write':
				void this.#write(message.bytes);
				break;
			case 'closed':
				this.#ended(message.key, message);
				break;
		}
	}

	async #write(bytes: Uint8Array): Promise<void> {
		const error = await this.#options.stdout(bytes).then(
			() => undefined,
			({message}: Error) => message,
		);
		this.#tell({kind: 'wrote', error});
	}

	#ended(key: number, {lostBytes, leftOutLines}: Closed): void {
		this.#closing.get(key)?.({lostBytes, leftOutLines});
		this.#closing.delete(key);
		this.#refWhileNeeded();
	}

	#die(error: Error): void {
		this.#isUndecided = false;
		this.#open = new Set();
		this.#isFull = false;
		this.#awayBytes = 0;
		this.#release();
		for (const key of this.#closing.keys()) this.#ended(key, {lostBytes: 0, leftOutLines: 0});
		this.#options.onBug(error);
	}

	#releaseIfRoom(): void {
		if (!this.#isFull && this.#awayBytes <= this.#maxAway / 2) this.#release();
	}

	#release(): void {
		for (const open of this.#held.splice(0)) open();
		this.#refWhileNeeded();
	}

	/** Where traffic or a close waits for the thread, it may be all that keeps the process running. */
	#refWhileNeeded(): void {
		if (this.#closing.size > 0 || this.#held.length > 0) this.#worker.ref();
		else this.#worker.unref();
	}
}
