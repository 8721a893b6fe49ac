import type {ServerResponse} from 'node:http';
import type {Headers} from '../../core/envelope.js';
import {ShutValves} from '../../core/shut-valves.js';
import type {Valve} from '../../core/valve.js';
import {trackUnreadResponse} from '../../http/unread-responses.js';
import {MESSAGE_LIMIT} from '../../operators/frame.js';
import {formatSseEvent, type SseEventInit} from '../../wire/sse.js';
import {writeSoon} from '../stdio/message-streams.js';

export type SseStreamOptions = {
	/** Headers in addition to those of every SSE response. */
	readonly headers?: Headers;
	/** Interval of keep-alive comments. Routers and clients time out idle streams after about a minute. */
	readonly keepAliveMs?: number;
	/** A client with more unread bytes than this is disconnected at the next event. */
	readonly maxUnreadBytes?: number;
	readonly onSlow?: (unreadBytes: number) => void;
};

const KEEP_ALIVE_MS = 15_000;
const KEEP_ALIVE_COMMENT = Buffer.from(': keep-alive\n\n');
const commonHeaders: Headers = {
	'content-type': 'text/event-stream',
	'cache-control': 'no-cache, no-transform',
	'x-accel-buffering': 'no',
};

export class SseStream {
	/** Resolves when the response is closed: by the client, or after its end was sent. */
	readonly closed: Promise<void>;
	readonly #response: ServerResponse;
	readonly #options: SseStreamOptions;
	readonly #keepAlive: NodeJS.Timeout;
	readonly #shutValves = new ShutValves();
	/** The events of the current chunk, and the valves of their origins. */
	#batch: Buffer[] = [];
	readonly #origins = new Set<Valve>();
	#isIdle = true;

	constructor(response: ServerResponse, options: SseStreamOptions = {}) {
		this.#response = response;
		this.#options = options;
		this.#keepAlive = setInterval(() => this.#sendKeepAlive(), options.keepAliveMs ?? KEEP_ALIVE_MS).unref();
		response.writeHead(200, {...commonHeaders, ...options.headers}).flushHeaders();
		// `close` follows every error.
		response.on('error', () => {}).on('drain', () => this.#shutValves.release());
		this.closed = new Promise(resolve => {
			const close = (): void => {
				clearInterval(this.#keepAlive);
				this.#shutValves.release();
				resolve();
			};
			if (response.destroyed) close();
			else response.once('close', close);
		});
	}

	get isOpen(): boolean {
		return !this.#response.writableEnded && !this.#response.destroyed;
	}

	get unreadBytes(): number {
		return this.#response.writableLength;
	}

	/**
	 * Sends an event. The events of one chunk are written together. `origin` is shut while the response is
	 * over its high-water mark. Returns whether the event was accepted: false after a disconnect.
	 */
	send(message: SseEventInit, origin?: Valve): boolean {
		if (!this.isOpen || this.#disconnectIfSlow()) return false;
		if (this.#batch.length === 0) writeSoon(() => this.#flush());
		this.#batch.push(formatSseEvent(message));
		if (origin) this.#origins.add(origin);
		return true;
	}

	/** Ends the stream after all queued events. With `retryMs`, the client reconnects after that time. */
	end(retryMs?: number): void {
		this.#flush();
		clearInterval(this.#keepAlive);
		// A `retry` field without data does not dispatch an event.
		if (retryMs !== undefined && this.isOpen) this.#response.write(`retry: ${retryMs}\n\n`);
		this.#response.end();
	}

	destroy(): void {
		this.#response.destroy();
	}

	#flush(): void {
		const batch = this.#batch;
		this.#batch = [];
		if (batch.length > 0 && this.isOpen) {
			this.#isIdle = false;
			// Not corked: a response that was corked may never emit `drain`.
			const isWritable = this.#response.write(batch.length === 1 ? batch[0] : Buffer.concat(batch));
			if (!isWritable) for (const origin of this.#origins) this.#shutValves.shut(origin);
			trackUnreadResponse(this.#response);
		}
		this.#origins.clear();
	}

	#disconnectIfSlow(): boolean {
		const {maxUnreadBytes = 2 * MESSAGE_LIMIT, onSlow} = this.#options;
		const {unreadBytes} = this;
		if (unreadBytes <= maxUnreadBytes) return false;
		this.destroy();
		onSlow?.(unreadBytes);
		return true;
	}

	/** Sends a comment, unless an event was sent since the last check or the client has unread data. */
	#sendKeepAlive(): void {
		const isSilent = this.#isIdle && this.isOpen && !this.#response.writableNeedDrain;
		if (isSilent) this.#response.write(KEEP_ALIVE_COMMENT);
		this.#isIdle = true;
	}
}
