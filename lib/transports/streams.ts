import type {Readable, Writable} from 'node:stream';
import {Observable, type Observer} from 'rxjs';
import type {Envelope} from '../envelope.js';
import type {Valve} from '../valve.js';
import type {Framing} from '../wire/framing.js';
import {KeptChunks} from './kept-chunks.js';
import {type Write, writeNow} from './write-now.js';

/** Writes that wait for the end of the chunk that caused them. */
const unwritten: Array<() => void> = [];
let isInChunk = false;

function writeAll(): void {
	isInChunk = false;
	for (let write = unwritten.pop(); write; write = unwritten.pop()) write();
}

/**
 * Has a write done when the present chunk is dealt with, or, where there is none, when all has been read that is there to be
 * read now: what many connections say at a time goes to their server together.
 */
export function writeSoon(write: () => void): void {
	if (!isInChunk && unwritten.length === 0) setImmediate(writeAll);
	unwritten.push(write);
}

/** So many messages go out together at most: with more of them the one side would rest while the other works. */
const TOGETHER = 16;

const PEEK_MS = 500;
const MAX_PEEKED = 4;

/**
 * Bytes from a stream, which is left unread while the valve is shut.
 *
 * With `lookAheadBytes`, so much is read all the same, and kept: only who reads gets to know that the stream has ended.
 */
export function fromReadable(readable: Readable, valve: Valve, lookAheadBytes = 0): Observable<Buffer> {
	return new Observable(subscriber => {
		const kept = new KeptChunks();
		let isEnded = false;
		let peek: NodeJS.Timeout | undefined;

		const pass = (chunk: Buffer): void => {
			isInChunk = true;
			subscriber.next(chunk);
			writeAll();
		};
		const hold = (): void => {
			if (kept.bytes >= lookAheadBytes) readable.pause();
			valve.whenOpen(proceed);
		};
		const proceed = (): void => {
			clearTimeout(peek);
			for (let chunk = kept.take(); chunk; chunk = kept.take()) {
				pass(chunk);
				if (valve.isOpen) continue;
				hold();
				return;
			}
			if (isEnded) subscriber.complete();
			else if (!subscriber.closed) readable.resume();
		};
		const onData = (chunk: Buffer): void => {
			if (valve.isOpen && kept.isEmpty) {
				pass(chunk);
				if (!valve.isOpen) hold();
				return;
			}
			kept.add(chunk);
			if (kept.bytes < lookAheadBytes) return;
			readable.pause();
			// Now and then one more, up to a limit: whoever died in the middle of writing has left less than that behind.
			if (kept.bytes < MAX_PEEKED * lookAheadBytes)
				peek = setTimeout(() => readable.resume(), PEEK_MS).unref();
		};
		const onEnd = (): void => {
			isEnded = true;
			if (kept.isEmpty) subscriber.complete();
		};
		const onError = (error: Error): void => subscriber.error(error);
		readable.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', onError).resume();
		return () => {
			clearTimeout(peek);
			readable.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', onError).pause();
		};
	});
}

/**
 * Writes messages, as lines or behind headers. What one chunk brings goes out together.
 *
 * A peer that is gone is for its endpoint to notice; here its messages are let go, and nobody is kept waiting for it.
 */
export function toWritable(writable: Writable, framing: () => Framing = () => 'lines'): Observer<Envelope> {
	const batch = new Batch(writable);
	const shut = new Map<Valve, () => void>();
	/** Where the messages of the batch came from: from one, mostly. */
	let origin: Valve | undefined;
	const others = new Set<Valve>();
	const release = (): void => {
		for (const open of shut.values()) open();
		shut.clear();
	};
	/** How many messages wait in the batch. */
	let waiting = 0;
	const flush = (): void => {
		waiting = 0;
		const isFull = !batch.write();
		if (isFull && origin)
			for (const valve of others.add(origin)) if (!shut.has(valve)) shut.set(valve, valve.shut());
		origin = undefined;
		if (others.size > 0) others.clear();
	};
	writable.on('drain', release).on('close', release);
	return {
		next(envelope) {
			if (batch.isEmpty) writeSoon(flush);
			const {valve} = envelope.origin;
			origin ??= valve;
			if (origin !== valve) others.add(valve);
			if (framing() === 'content-length') {
				batch.add(Buffer.from(`Content-Length: ${envelope.size}\r\n\r\n`));
				batch.add(envelope.bytes);
			} else if (envelope.parts) for (const part of envelope.parts) batch.add(part);
			else batch.add(envelope.line);
			if (++waiting === TOGETHER) flush();
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

/** Buffers to be written together. Those that lie side by side in memory, as lines of one chunk do, become one again. */
class Batch {
	readonly #writable: Writable;
	readonly #writeNow: Write;
	#buffers: Buffer[] = [];
	/** The first of those that lie side by side at the end, and how many bytes they are. */
	#first: Buffer | undefined;
	#length = 0;

	constructor(writable: Writable) {
		this.#writable = writable;
		this.#writeNow = writeNow(writable);
	}

	get isEmpty(): boolean {
		return this.#first === undefined;
	}

	add(next: Buffer): void {
		const first = this.#first;
		if (first && first.byteOffset + this.#length === next.byteOffset && first.buffer === next.buffer) {
			this.#length += next.length;
			return;
		}
		if (first) this.#buffers.push(this.#joined(first));
		this.#first = next;
		this.#length = next.length;
	}

	/** Returns whether the stream would take more. */
	write(): boolean {
		const buffers = this.#buffers;
		const writable = this.#writable;
		const first = this.#first;
		if (!first) return true;
		this.#buffers = [];
		this.#first = undefined;
		if (!writable.writable) return true;
		if (buffers.length === 0) return this.#writeNow(this.#joined(first));
		writable.cork();
		for (const buffer of buffers) writable.write(buffer);
		const hasRoom = writable.write(this.#joined(first));
		writable.uncork();
		return hasRoom;
	}

	#joined(first: Buffer): Buffer {
		return first.length === this.#length ? first : Buffer.from(first.buffer, first.byteOffset, this.#length);
	}
}
