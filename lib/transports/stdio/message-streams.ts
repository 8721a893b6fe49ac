import type {Readable, Writable} from 'node:stream';
import {Observable, type Observer} from 'rxjs';
import type {Envelope} from '../../core/envelope.js';
import {synchronousWriter, type WriteBytes} from '../../core/fast/synchronous-write.js';
import type {Valve} from '../../core/valve.js';
import {ChunkQueue} from '../../util/chunk-queue.js';
import type {Framing} from '../../wire/framing.js';

const pendingWrites: Array<() => void> = [];
let isInChunk = false;

function flushWrites(): void {
	isInChunk = false;
	for (let write = pendingWrites.pop(); write; write = pendingWrites.pop()) write();
}

/**
 * Defers a write to the end of the current chunk. Outside of a chunk, defers it with `setImmediate`, so that
 * messages from many connections are written together.
 */
export function writeSoon(write: () => void): void {
	if (!isInChunk && pendingWrites.length === 0) setImmediate(flushWrites);
	pendingWrites.push(write);
}

/**
 * The maximum number of messages per write. With larger batches, one side would idle while the other works.
 */
const MAX_BATCH_MESSAGES = 16;

const READ_MORE_MS = 500;
const MAX_READ_AHEAD_FACTOR = 4;

/**
 * Emits the chunks of a stream, which is not read while the valve is shut.
 *
 * With `readAheadBytes`, up to that many bytes are read and queued anyway: only a read can detect the end.
 */
export function fromReadable(readable: Readable, valve: Valve, readAheadBytes = 0): Observable<Buffer> {
	return new Observable(subscriber => {
		const queue = new ChunkQueue();
		let isEnded = false;
		let readMoreTimer: NodeJS.Timeout | undefined;

		const deliver = (chunk: Buffer): void => {
			isInChunk = true;
			subscriber.next(chunk);
			flushWrites();
		};
		const waitForValve = (): void => {
			if (queue.bytes >= readAheadBytes) readable.pause();
			valve.whenOpen(drain);
		};
		const drain = (): void => {
			clearTimeout(readMoreTimer);
			for (let chunk = queue.take(); chunk; chunk = queue.take()) {
				deliver(chunk);
				if (valve.isOpen) continue;
				waitForValve();
				return;
			}
			if (isEnded) subscriber.complete();
			else if (!subscriber.closed) readable.resume();
		};
		const onData = (chunk: Buffer): void => {
			if (valve.isOpen && queue.isEmpty) {
				deliver(chunk);
				if (!valve.isOpen) waitForValve();
				return;
			}
			queue.add(chunk);
			if (queue.bytes < readAheadBytes) return;
			readable.pause();
			// Reads another chunk from time to time. A writer that died in a write has left less than the limit.
			if (queue.bytes < MAX_READ_AHEAD_FACTOR * readAheadBytes)
				readMoreTimer = setTimeout(() => readable.resume(), READ_MORE_MS).unref();
		};
		const onEnd = (): void => {
			isEnded = true;
			if (queue.isEmpty) subscriber.complete();
		};
		const onError = (error: Error): void => subscriber.error(error);
		readable.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', onError).resume();
		return () => {
			clearTimeout(readMoreTimer);
			readable.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', onError).pause();
		};
	});
}

/**
 * Writes messages in the current framing. The messages of one chunk are written together.
 *
 * After a disconnect, messages are dropped and the valves opened. The endpoint reports the disconnect.
 */
export function toWritable(writable: Writable, framing: () => Framing = () => 'lines'): Observer<Envelope> {
	const batch = new WriteBatch(writable);
	const shutValves = new Map<Valve, () => void>();
	/** The valve of the first message in the batch. Most batches have one origin. */
	let origin: Valve | undefined;
	const otherOrigins = new Set<Valve>();
	const release = (): void => {
		for (const open of shutValves.values()) open();
		shutValves.clear();
	};
	let batchedMessages = 0;
	const flush = (): void => {
		batchedMessages = 0;
		const isFull = !batch.write();
		if (isFull && origin)
			for (const valve of otherOrigins.add(origin))
				if (!shutValves.has(valve)) shutValves.set(valve, valve.shut());
		origin = undefined;
		if (otherOrigins.size > 0) otherOrigins.clear();
	};
	writable.on('drain', release).on('close', release);
	return {
		next(envelope) {
			if (batch.isEmpty) writeSoon(flush);
			const {valve} = envelope.origin;
			origin ??= valve;
			if (origin !== valve) otherOrigins.add(valve);
			if (framing() === 'content-length') {
				batch.add(Buffer.from(`Content-Length: ${envelope.size}\r\n\r\n`));
				batch.add(envelope.bytes);
			} else if (envelope.parts) for (const part of envelope.parts) batch.add(part);
			else batch.add(envelope.line);
			if (++batchedMessages === MAX_BATCH_MESSAGES) flush();
		},
		error: error => {
			flush();
			writable.destroy(error);
		},
		complete: () => {
			flush();
			writable.end();
		},
	};
}

/**
 * Buffers that are written together. Adjacent ones, such as lines of one chunk, are joined without copying.
 */
class WriteBatch {
	readonly #writable: Writable;
	readonly #write: WriteBytes;
	#buffers: Buffer[] = [];
	/** The first buffer of the contiguous run at the end, and the length of the run in bytes. */
	#runStart: Buffer | undefined;
	#runLength = 0;

	constructor(writable: Writable) {
		this.#writable = writable;
		this.#write = synchronousWriter(writable);
	}

	get isEmpty(): boolean {
		return this.#runStart === undefined;
	}

	add(next: Buffer): void {
		const first = this.#runStart;
		if (first && first.byteOffset + this.#runLength === next.byteOffset && first.buffer === next.buffer) {
			this.#runLength += next.length;
			return;
		}
		if (first) this.#buffers.push(this.#joinRun(first));
		this.#runStart = next;
		this.#runLength = next.length;
	}

	/** Returns false if the stream is over its high-water mark. */
	write(): boolean {
		const buffers = this.#buffers;
		const writable = this.#writable;
		const first = this.#runStart;
		if (!first) return true;
		this.#buffers = [];
		this.#runStart = undefined;
		if (!writable.writable) return true;
		if (buffers.length === 0) return this.#write(this.#joinRun(first));
		writable.cork();
		for (const buffer of buffers) writable.write(buffer);
		const isWritable = writable.write(this.#joinRun(first));
		writable.uncork();
		return isWritable;
	}

	#joinRun(first: Buffer): Buffer {
		return first.length === this.#runLength
			? first
			: Buffer.from(first.buffer, first.byteOffset, this.#runLength);
	}
}
