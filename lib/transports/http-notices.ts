import type {IncomingHttpHeaders} from 'node:http';
import type {Envelope, Headers} from '../envelope.js';
import type {Log} from '../log.js';
import {shortened} from '../printable.js';
import type {Valve} from '../valve.js';
import {warnLimited} from '../warn-limited.js';
import {exchange, type Stop} from './http-exchange.js';

export type HttpNoticesOptions = {
	readonly name: string;
	readonly url: URL;
	readonly log: Log;
	/** How long the server may take for one of them, in milliseconds. */
	readonly noticeMs?: number | undefined;
	/** A response began. */
	readonly onHead?: (received: IncomingHttpHeaders, sent: Headers) => void;
};

/** Messages, and their bytes, that may be pending at the server before the senders are not read any further. */
const [MAX_MESSAGES, MAX_BYTES] = [1000, 8 * 2 ** 20];
/** As long as a request may take by default. */
const NOTICE_MS = 60_000;

/**
 * Posts messages that have no response: notifications, and responses to server requests.
 *
 * They are buffered until the server has accepted them. At the limit the valves of their senders are shut, until there
 * is room again. A POST that takes too long is ended.
 */
export class HttpNotices {
	readonly #options: HttpNoticesOptions;
	#messages = 0;
	#bytes = 0;
	/** Opens the valves that are shut. */
	readonly #shut = new Map<Valve, () => void>();

	constructor(options: HttpNoticesOptions) {
		this.#options = options;
	}

	/** Calls `taken` once, with the status of the response, or without one if there is none. */
	post(envelope: Envelope, taken: (status: number | undefined) => void = () => {}): Stop {
		const {noticeMs = NOTICE_MS, url} = this.#options;
		const leave = this.#enter(envelope);
		let isTaken = false;
		const fail = (reason: string): void => {
			if (isTaken) return;
			this.#warn(envelope, {reason});
			taken(undefined);
		};
		const limit = setTimeout(() => {
			halt();
			fail(`no response within ${noticeMs} ms`);
		}, noticeMs).unref();
		const stop = exchange({
			method: 'POST',
			url,
			headers: envelope.headers ?? {},
			body: envelope.bytes,
			onHead: (status, received) => {
				isTaken = true;
				this.#options.onHead?.(received, envelope.headers ?? {});
				if (status >= 300) this.#warn(envelope, {status});
				taken(status);
				return {onData: () => {}, onEnd: end};
			},
			onError: error => {
				end();
				fail(error.message);
			},
		});
		function end(): void {
			clearTimeout(limit);
			leave();
		}
		function halt(): void {
			end();
			stop();
		}
		return halt;
	}

	/** Counts a message until the result is called. Another call of that has no effect. */
	#enter({size, origin: {valve}}: Envelope): () => void {
		this.#messages++;
		this.#bytes += size;
		if (this.#isFull && !this.#shut.has(valve)) this.#shut.set(valve, valve.shut());
		let isIn = true;
		return () => {
			if (!isIn) return;
			isIn = false;
			this.#messages--;
			this.#bytes -= size;
			if (!this.#isFull) this.#open();
		};
	}

	get #isFull(): boolean {
		return this.#messages >= MAX_MESSAGES || this.#bytes >= MAX_BYTES;
	}

	#open(): void {
		const all = [...this.#shut.values()];
		this.#shut.clear();
		for (const open of all) open();
	}

	#warn({head: {method = 'an answer'}}: Envelope, fields: {readonly [key: string]: unknown}): void {
		const {name, log} = this.#options;
		const sentence = `${name} did not accept ${shortened(method)}.`;
		warnLimited(log, 'http.not_taken', sentence, {server: name, ...fields}, name);
	}
}
