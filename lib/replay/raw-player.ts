import {once} from 'node:events';
import type {Socket} from 'node:net';
import {setTimeout as sleep} from 'node:timers/promises';
import type {RecordedChunk, RecordedConnection} from '../traffic-log/log-contents.js';
import {ByteComparer, type ByteDifference} from './byte-comparer.js';
import type {ReplayTiming} from './client-player.js';
import {ConditionWaiter} from './condition-waiter.js';
import type {Recording} from './recording.js';

type RawPlayerOptions = {
	readonly recording: Recording;
	readonly connection: RecordedConnection;
	readonly as: 'client' | 'server';
	readonly timing: ReplayTiming;
	/** Timeout for the other side; 0 for none. */
	readonly timeoutMs: number;
	/**
	 * If the other side has sent less than recorded, playback continues after this much silence; 0 for never.
	 */
	readonly silenceMs: number;
	readonly onStep?: (done: number) => void;
};

export type RawReplayOutcome = {
	readonly sentBytes: number;
	readonly receivedBytes: number;
	/** The first difference between what the other side sent and the recording. */
	readonly difference: ByteDifference | undefined;
};

/** How long a side that has sent everything may take to close. */
const CLOSE_TIMEOUT_MS = 1000;

/**
 * Plays one side of a recorded connection to a socket. Each chunk waits for the bytes that the other side
 * sent before it in the recording.
 */
export async function playRaw(socket: Socket, options: RawPlayerOptions): Promise<RawReplayOutcome> {
	const {recording, connection, as, timing, timeoutMs, onStep} = options;
	const {chunks} = connection;
	const comparer = new ByteComparer(
		chunkBytes(
			recording,
			chunks.filter(({from}) => from !== as),
		),
	);
	const waiter = new ConditionWaiter();
	socket.on('data', (bytes: Buffer) => {
		comparer.push(bytes);
		waiter.notify();
	});
	socket.on('error', () => waiter.close());
	socket.once('end', () => waiter.close()).once('close', () => waiter.close());
	const received = new ReceivedBytes(comparer, waiter, options);
	let [expected, sentBytes, last] = [0, 0, chunks[0]?.time ?? 0];
	for (const [at, chunk] of chunks.entries()) {
		const data = recording.data(chunk);
		if (chunk.from !== as) expected += data.length;
		else {
			await received.waitFor(expected);
			if (timing === 'recorded') await sleep(Math.max(0, (chunk.time - last) / 1000));
			if (!(await writeChunk(socket, data))) break;
			sentBytes += data.length;
		}
		last = chunk.time;
		onStep?.(at + 1);
	}
	await received.waitFor(expected);
	socket.end();
	await waiter.waitUntil(
		() => false,
		as === 'client' && connection.closedBy === 'server' ? timeoutMs : CLOSE_TIMEOUT_MS,
	);
	comparer.end();
	socket.destroy();
	return {sentBytes, receivedBytes: comparer.receivedBytes, difference: comparer.difference};
}

function* chunkBytes(recording: Recording, chunks: readonly RecordedChunk[]): Generator<Buffer> {
	for (const chunk of chunks) yield recording.data(chunk);
}

/** Waits until the other side has sent as many bytes as in the recording. */
class ReceivedBytes {
	readonly #comparer: ByteComparer;
	readonly #waiter: ConditionWaiter;
	readonly #options: RawPlayerOptions;
	#lastCount = 0;

	constructor(comparer: ByteComparer, waiter: ConditionWaiter, options: RawPlayerOptions) {
		this.#comparer = comparer;
		this.#waiter = waiter;
		this.#options = options;
	}

	async waitFor(expected: number): Promise<void> {
		const {timeoutMs, silenceMs} = this.#options;
		const isReceived = (): boolean => this.#comparer.receivedBytes >= expected;
		if (silenceMs === 0) await this.#waiter.waitUntil(isReceived, timeoutMs);
		else {
			await this.#waiter.waitUntil(
				() => isReceived() || this.#comparer.receivedBytes > this.#lastCount,
				timeoutMs,
			);
			for (
				let lastSeen = -1;
				!isReceived() && lastSeen !== this.#comparer.receivedBytes && !this.#waiter.isClosed;
			) {
				lastSeen = this.#comparer.receivedBytes;
				await this.#waiter.waitUntil(() => this.#comparer.receivedBytes > lastSeen, silenceMs);
			}
		}
		this.#lastCount = this.#comparer.receivedBytes;
	}
}

/** Writes a chunk and waits while the socket applies backpressure. Returns whether it is still open. */
async function writeChunk(socket: Socket, data: Buffer): Promise<boolean> {
	if (socket.destroyed || !socket.writable) return false;
	if (!socket.write(data)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {});
	return !socket.destroyed;
}
