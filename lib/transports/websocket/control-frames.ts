import {performance} from 'node:perf_hooks';
import type {WebSocket} from 'ws';
import {RateLimiter} from '../../util/rate-limiter.js';

/** Limit of frames without a message per window: pings, pongs and empty messages together. */
const MAX_EMPTY_FRAMES = 100;
const EMPTY_FRAMES_WINDOW_MS = 10_000;

/** The error code of ws for a message of more than 16,384 fragments. */
const TOO_MANY_PARTS = 'WS_ERR_TOO_MANY_BUFFERED_PARTS';
/** The close code for a policy violation (RFC 6455, 7.4.1). */
const POLICY_VIOLATION = 1008;
/** How long a peer has to read the reason. */
const CLOSE_MS = 1000;

/**
 * The frames of a WebSocket that carry no message.
 *
 * Pongs are sent with backpressure: one at a time. Of the pings received meanwhile, only the latest gets a
 * pong, as RFC 6455 allows. A peer that exceeds the limit of such frames is disconnected.
 */
export class ControlFrames {
	readonly #socket: WebSocket;
	readonly #onFlood: (reason: string) => void;
	readonly #rate = new RateLimiter(MAX_EMPTY_FRAMES, EMPTY_FRAMES_WINDOW_MS, () => performance.now());
	/** The latest ping that was received while another pong is being sent. */
	#queuedPing: Buffer | undefined;
	#isPonging = false;
	#isOver = false;

	constructor(socket: WebSocket, onFlood: (reason: string) => void) {
		this.#socket = socket;
		this.#onFlood = onFlood;
		socket.on('ping', data => {
			if (this.count()) this.#pong(data);
		});
		socket.on('pong', () => this.count());
		socket.on('error', (error: NodeJS.ErrnoException) => {
			if (error.code === TOO_MANY_PARTS) this.#disconnect('too many fragments');
		});
	}

	/** Counts a frame without a message. Returns whether the peer is within the limit. */
	count(): boolean {
		if (this.#isOver) return false;
		if (this.#rate.tryAcquire()) return true;
		this.#isOver = true;
		this.#disconnect(
			`more than ${MAX_EMPTY_FRAMES} pings, pongs and empty messages in ${EMPTY_FRAMES_WINDOW_MS / 1000} s`,
		);
		return false;
	}

	#pong(data: Buffer): void {
		const socket = this.#socket;
		if (socket.readyState !== socket.OPEN) return;
		if (this.#isPonging) {
			this.#queuedPing = data;
			return;
		}
		this.#isPonging = true;
		socket.pong(data, undefined, () => {
			this.#isPonging = false;
			const next = this.#queuedPing;
			this.#queuedPing = undefined;
			if (next) this.#pong(next);
		});
	}

	#disconnect(reason: string): void {
		const socket = this.#socket;
		this.#onFlood(reason);
		// Paused so that the rest of the flood is not read.
		socket.close(POLICY_VIOLATION, reason);
		socket.pause();
		setTimeout(() => socket.terminate(), CLOSE_MS).unref();
	}
}
