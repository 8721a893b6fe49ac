import type {ServerResponse} from 'node:http';
import type {Headers} from '../../core/envelope.js';
import {ShutValves} from '../../core/shut-valves.js';
import type {Valve} from '../../core/valve.js';
import {trackUnreadResponse} from '../../http/unread-responses.js';
import {MESSAGE_LIMIT} from '../../operators/frame.js';
import {formatSseEvent, type SseEventInit} from '../../wire/sse.js';
import {writeSoon} from '../stdio/message-streams.js';

export type SseStreamOptions = {
	/** Headers beyond those that every such stream has. */
	readonly headers?: Headers;
	/** How long the stream may be silent: routers and clients take it for dead after a minute or so. */
	readonly keepAliveMs?: number;
	/** So much may wait for a client that does not read. It is cut off when there is more to come. */
	readonly maxUnreadBytes?: number;
	/** Told when that happens. */
	readonly onSlow?: (unreadBytes: number) => void;
};

const KEEP_ALIVE_MS = 15_000;
const KEEP_ALIVE_COMMENT = Buffer.from(': keep-alive\n\n');
const commonHeaders: Headers = {
	'content-type': 'text/event-stream',
	'cache-control': 'no-cache, no-transform',
	'x-accel-buffering': 'no',
};

/** One response that is a stream of server-sent events. */
export class SseStream {
	/** Resolves when the client is gone, or has been sent the last of it. */
	readonly closed: Promise<void>;
	readonly #response: ServerResponse;
	readonly #options: SseStreamOptions;
	readonly #keepAlive: NodeJS.Timeout;
	readonly #shutValves = new ShutValves();
	/** What the present chunk has brought so far, and whose messages those are. */
	#batch: Buffer[] = [];
	readonly #origins = new Set<Valve>();
	#isIdle = true;

	constructor(response: ServerResponse, options: SseStreamOptions = {}) {
		this.#response = response;
		this.#options = options;
		this.#keepAlive = setInterval(() => this.#sendKeepAlive(), options.keepAliveMs ?? KEEP_ALIVE_MS).unref();
		response.writeHead(200, {...commonHeaders, ...options.headers}).flushHeaders();
		// Errors are followed by the close, which is all that counts.
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

	/** Whether events can be sent still. */
	get isOpen(): boolean {
		return !this.#response.writableEnded && !this.#response.destroyed;
	}

	/** How much waits for the client to read it. */
	get unreadBytes(): number {
		return this.#response.writableLength;
	}

	/**
	 * Sends an event; what one chunk brings goes out together. `origin` is shut while the client takes no more. Returns
	 * whether the event was taken: it is not when the client is gone.
	 */
	send(message: SseEventInit, origin?: Valve): boolean {
		if (!this.isOpen || this.#disconnectIfSlow()) return false;
		if (this.#batch.length === 0) writeSoon(() => this.#flush());
		this.#batch.push(formatSseEvent(message));
		if (origin) this.#origins.add(origin);
		return true;
	}

	/** Ends the stream, with all that was sent, and with when to come back if the client is to. */
	end(retryMs?: number): void {
		this.#flush();
		clearInterval(this.#keepAlive);
		// Without data it is no event, and nothing that a client has to understand.
		if (retryMs !== undefined && this.isOpen) this.#response.write(`retry: ${retryMs}\n\n`);
		this.#response.end();
	}

	/** Cuts the client off. */
	destroy(): void {
		this.#response.destroy();
	}

	#flush(): void {
		const batch = this.#batch;
		this.#batch = [];
		if (batch.length > 0 && this.isOpen) {
			this.#isIdle = false;
			// Not corked: a response that was may never say that it has room again.
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

	/** Says something that is nothing, unless the client has something to read. */
	#sendKeepAlive(): void {
		const isSilent = this.#isIdle && this.isOpen && !this.#response.writableNeedDrain;
		if (isSilent) this.#response.write(KEEP_ALIVE_COMMENT);
		this.#isIdle = true;
	}
}
