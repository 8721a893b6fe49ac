import {Worker} from 'node:worker_threads';
import type {MessageOrigin} from '../core/envelope.js';
import {logWorker} from '../run-time-files.js';
import {nowMicroseconds} from '../util/clock.js';
import type {FromLogWorker, LogSettings, ToLogWorker} from './log-worker-messages.js';
import {encodeRecord, recordSize, type TrafficLine, writeRecord} from './records.js';
import type {LogDestination} from './traffic-log.js';

export type BackgroundLogOptions = LogSettings & {
	/** The worker module, if it is not in the default place. */
	readonly worker?: URL | undefined;
	/** Writes to stdout. Rejects once stdout has no reader. */
	readonly stdout: (bytes: Uint8Array) => Promise<void>;
	/** Called when writing fails, and when it works again. */
	readonly onTrouble: (destination: number, message: string, leftOutLines: number) => void;
	/** Called if the worker fails unexpectedly. Nothing is logged after that. */
	readonly onBug: (error: Error) => void;
};

export type LogCloseResult = {readonly lostBytes: number; readonly leftOutLines: number};

/** Eight of the largest chunks, with their heads and tails. */
const BLOCK_BYTES = 2 ** 20 + 2 ** 12;
/** Limits of how long lines wait for a full block: absolute, and as a fraction of the flush time. */
const MAX_BATCH_DELAY_MS = 500;
const BATCH_DELAY_FRACTION = 1 / 4;
/** Limits of blocks that are kept for reuse, so that the system need not clear new memory. */
const MAX_SPARE_BLOCKS = 256;
const IDLE_SPARE_BLOCKS = 4;
/**
 * Limits of bytes in flight to the worker. With backpressure, the limit is lower, since this memory adds to
 * the buffer.
 */
const MAX_IN_FLIGHT_BYTES = 64 * 2 ** 20;
const MAX_IN_FLIGHT_BYTES_WAITING = 16 * 2 ** 20;

/**
 * A traffic log in a worker thread, with any number of destinations and a buffer for each. Lines are copied
 * into blocks, which are transferred to the worker when they are full or old.
 */
export class BackgroundLog {
	readonly #options: BackgroundLogOptions;
	readonly #worker: Worker;
	readonly #closeCallbacks = new Map<number, (closed: LogCloseResult) => void>();
	#openKeys = new Set<number>();
	#lastKey = 0;
	/** Lines are kept until the first destination is opened. */
	#isBeforeFirstOpen = true;
	#block = Buffer.alloc(0);
	#used = 0;
	readonly #spareBlocks: ArrayBuffer[] = [];
	readonly #batchDelayMs: number;
	readonly #blockBytes: number;
	readonly #maxInFlightBytes: number;
	#timer: NodeJS.Timeout | undefined;
	#inFlightBytes = 0;
	#isFull = false;
	#gap = {lines: 0, bytes: 0};
	readonly #valveReleases: Array<() => void> = [];

	constructor(options: BackgroundLogOptions) {
		this.#options = options;
		this.#batchDelayMs = Math.min(MAX_BATCH_DELAY_MS, options.flushMs * BATCH_DELAY_FRACTION);
		const {worker = logWorker, flushMs, maxBytes, onFull} = options;
		this.#blockBytes = Math.min(BLOCK_BYTES, maxBytes);
		this.#maxInFlightBytes =
			onFull === 'wait' ? Math.min(MAX_IN_FLIGHT_BYTES_WAITING, maxBytes) : MAX_IN_FLIGHT_BYTES;
		this.#worker = new Worker(worker, {workerData: {flushMs, maxBytes, onFull} satisfies LogSettings});
		this.#worker.on('message', (message: FromLogWorker) => this.#onMessage(message));
		this.#worker.on('error', error => this.#onWorkerError(error));
		this.#worker.unref();
	}

	get isOn(): boolean {
		return this.#isBeforeFirstOpen || this.#openKeys.size > 0;
	}

	/**
	 * Adds a line with the current time. If `onFull` is `wait`, a full log applies backpressure to `origin`.
	 */
	add(line: TrafficLine, origin?: MessageOrigin): void {
		if (!this.isOn) return;
		const size = recordSize(line);
		const fits = this.#used + size <= this.#block.length;
		if (this.#shouldDrop(size, fits, origin)) return;
		if (!fits) {
			this.#postBlock();
			this.#block = this.#newBlock(size);
		}
		this.#used = writeRecord(this.#block, this.#used, nowMicroseconds(), line);
		this.#timer ??= setTimeout(() => this.#postBlockOnTimer(), this.#batchDelayMs);
	}

	open(destination: LogDestination | 'stdout'): number {
		if (!this.#isBeforeFirstOpen) this.#postBlock();
		this.#isBeforeFirstOpen = false;
		const key = ++this.#lastKey;
		this.#openKeys.add(key);
		this.#post({kind: 'open', key, destination});
		return key;
	}

	/** Adds a last line to one destination, writes its buffered lines and closes it. */
	close(key: number, last?: TrafficLine): Promise<LogCloseResult> {
		this.#postBlock();
		if (!this.#openKeys.delete(key)) return Promise.resolve({lostBytes: 0, leftOutLines: 0});
		return new Promise(resolve => {
			this.#closeCallbacks.set(key, resolve);
			this.#updateWorkerRef();
			this.#post({kind: 'close', key, last: last && encodeRecord(nowMicroseconds(), last)});
		});
	}

	/** Terminates the worker. Lines of open destinations are lost. */
	async end(): Promise<void> {
		clearTimeout(this.#timer);
		this.#isBeforeFirstOpen = false;
		this.#openKeys.clear();
		this.#openValves();
		await this.#worker.terminate();
	}

	/** Whether a line is dropped and counted. Otherwise, backpressure may be applied to its origin. */
	#shouldDrop(bytes: number, fits: boolean, origin: MessageOrigin | undefined): boolean {
		const isFull = this.#isFull || this.#inFlightBytes > this.#maxInFlightBytes;
		const hasBackpressure = this.#options.onFull === 'wait';
		if (isFull && hasBackpressure && origin) {
			this.#valveReleases.push(origin.valve.shut());
			this.#updateWorkerRef();
		}
		// There is only one block until the first destination is opened.
		const isBlocked = this.#isBeforeFirstOpen && !fits && this.#used > 0;
		if (!isBlocked && (!isFull || hasBackpressure)) return false;
		// A gap precedes the block that it is sent with. Lines in the current block came before the gap.
		if (this.#gap.lines === 0) this.#postBlock();
		this.#gap = {lines: this.#gap.lines + 1, bytes: this.#gap.bytes + bytes};
		return true;
	}

	#newBlock(size: number): Buffer<ArrayBuffer> {
		const spare = size <= this.#blockBytes ? this.#spareBlocks.pop() : undefined;
		return spare ? Buffer.from(spare) : Buffer.allocUnsafeSlow(Math.max(this.#blockBytes, size));
	}

	/** A block that is not filled in time means little traffic, which needs little memory. */
	#postBlockOnTimer(): void {
		this.#postBlock();
		this.#spareBlocks.splice(IDLE_SPARE_BLOCKS);
	}

	#postBlock(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		const gap = this.#gap.lines > 0 ? this.#gap : undefined;
		if (this.#isBeforeFirstOpen || (this.#used === 0 && !gap)) return;
		const block = new Uint8Array(this.#block.buffer, 0, this.#used);
		this.#gap = {lines: 0, bytes: 0};
		this.#inFlightBytes += this.#used;
		this.#block = Buffer.alloc(0);
		this.#used = 0;
		this.#post({kind: 'records', block, gap}, [block.buffer]);
	}

	#post(message: ToLogWorker, transfer: readonly ArrayBuffer[] = []): void {
		this.#worker.postMessage(message, transfer);
	}

	#onMessage(message: FromLogWorker): void {
		switch (message.kind) {
			case 'processed':
				this.#inFlightBytes -= message.bytes;
				this.#openValvesBelowLimit();
				break;
			case 'spare':
				if (message.memory.byteLength === this.#blockBytes && this.#spareBlocks.length < MAX_SPARE_BLOCKS)
					this.#spareBlocks.push(message.memory);
				break;
			case 'full':
				this.#isFull = message.isFull;
				this.#openValvesBelowLimit();
				break;
			case 'trouble':
				this.#options.onTrouble(message.key, message.text, message.leftOutLines);
				break;
			case 'write':
				void this.#write(message.bytes);
				break;
			case 'closed':
				this.#onClosed(message.key, message);
				break;
		}
	}

	async #write(bytes: Uint8Array): Promise<void> {
		const error = await this.#options.stdout(bytes).then(
			() => undefined,
			({message}: Error) => message,
		);
		this.#post({kind: 'wrote', error});
	}

	#onClosed(key: number, {lostBytes, leftOutLines}: LogCloseResult): void {
		this.#closeCallbacks.get(key)?.({lostBytes, leftOutLines});
		this.#closeCallbacks.delete(key);
		this.#updateWorkerRef();
	}

	#onWorkerError(error: Error): void {
		this.#isBeforeFirstOpen = false;
		this.#openKeys = new Set();
		this.#isFull = false;
		this.#inFlightBytes = 0;
		this.#openValves();
		for (const key of this.#closeCallbacks.keys()) this.#onClosed(key, {lostBytes: 0, leftOutLines: 0});
		this.#options.onBug(error);
	}

	#openValvesBelowLimit(): void {
		if (!this.#isFull && this.#inFlightBytes <= this.#maxInFlightBytes / 2) this.#openValves();
	}

	#openValves(): void {
		for (const open of this.#valveReleases.splice(0)) open();
		this.#updateWorkerRef();
	}

	/** While traffic or a close waits for the worker, it may be all that keeps the process running. */
	#updateWorkerRef(): void {
		if (this.#closeCallbacks.size > 0 || this.#valveReleases.length > 0) this.#worker.ref();
		else this.#worker.unref();
	}
}
