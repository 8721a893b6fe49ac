import {once} from 'node:events';
import type {Socket} from 'node:net';
import {setTimeout as sleep} from 'node:timers/promises';
import type {RecordedChunk, RecordedConnection} from '../store/recorded.js';
import {ByteCheck, type ByteDifference} from './byte-check.js';
import type {Timing} from './client-player.js';
import type {Recording} from './recording.js';
import {Watch} from './watch.js';

export type RawPlayerOptions = {
	readonly recording: Recording;
	readonly connection: RecordedConnection;
	/** Whose bytes are played. */
	readonly as: 'client' | 'server';
	readonly timing: Timing;
	/** How long the other side may take; 0 for any time. */
	readonly timeoutMs: number;
	/** After such a silence of somebody who has said less than was recorded, it goes on; 0 for never. */
	readonly silenceMs: number;
	readonly onStep?: (done: number) => void;
};

export type RawOutcome = {
	readonly sentBytes: number;
	readonly receivedBytes: number;
	/** Where the other side said something else than was recorded. */
	readonly difference: ByteDifference | undefined;
};

/** How long a side that has said all may take to close. */
const CLOSE_MS = 1000;

/** Plays one side of a recorded connection to a socket. Each chunk waits for what the other side had said before it. */
export async function playRaw(socket: Socket, options: RawPlayerOptions): Promise<RawOutcome> {
	const {recording, connection, as, timing, timeoutMs, onStep} = options;
	const {chunks} = connection;
	const check = new ByteCheck(
		bytesOf(
			recording,
			chunks.filter(({from}) => from !== as),
		),
	);
	const watch = new Watch();
	socket.on('data', (bytes: Buffer) => {
		check.push(bytes);
		watch.changed();
	});
	socket.on('error', () => watch.end());
	socket.once('end', () => watch.end()).once('close', () => watch.end());
	const heard = new Heard(check, watch, options);
	let [expected, sentBytes, last] = [0, 0, chunks[0]?.time ?? 0];
	for (const [at, chunk] of chunks.entries()) {
		const data = recording.data(chunk);
		if (chunk.from !== as) expected += data.length;
		else {
			await heard.enough(expected);
			if (timing === 'recorded') await sleep(Math.max(0, (chunk.time - last) / 1000));
			if (!(await sent(socket, data))) break;
			sentBytes += data.length;
		}
		last = chunk.time;
		onStep?.(at + 1);
	}
	await heard.enough(expected);
	socket.end();
	await watch.until(() => false, as === 'client' && connection.closedBy === 'server' ? timeoutMs : CLOSE_MS);
	check.end();
	socket.destroy();
	return {sentBytes, receivedBytes: check.count, difference: check.difference};
}

function* bytesOf(recording: Recording, chunks: readonly RecordedChunk[]): Generator<Buffer> {
	for (const chunk of chunks) yield recording.data(chunk);
}

/** Knows when the other side has said what it had said at that time when it was recorded. */
class Heard {
	readonly #check: ByteCheck;
	readonly #watch: Watch;
	readonly #options: RawPlayerOptions;
	#before = 0;

	constructor(check: ByteCheck, watch: Watch, options: RawPlayerOptions) {
		this.#check = check;
		this.#watch = watch;
		this.#options = options;
	}

	async enough(expected: number): Promise<void> {
		const {timeoutMs, silenceMs} = this.#options;
		const isEnough = (): boolean => this.#check.count >= expected;
		if (silenceMs === 0) await this.#watch.until(isEnough, timeoutMs);
		else {
			await this.#watch.until(() => isEnough() || this.#check.count > this.#before, timeoutMs);
			for (let seen = -1; !isEnough() && seen !== this.#check.count && !this.#watch.isOver; ) {
				seen = this.#check.count;
				await this.#watch.until(() => this.#check.count > seen, silenceMs);
			}
		}
		this.#before = this.#check.count;
	}
}

/** Writes, and waits for room. Tells whether anybody is there. */
async function sent(socket: Socket, data: Buffer): Promise<boolean> {
	if (socket.destroyed || !socket.writable) return false;
	if (!socket.write(data)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {});
	return !socket.destroyed;
}
