import type {IncomingHttpHeaders} from 'node:http';
import type {Envelope, Headers} from '../../core/envelope.js';
import type {Log} from '../../core/log.js';
import type {Valve} from '../../core/valve.js';
import {warnRateLimited} from '../../core/warn-rate-limited.js';
import {shortened} from '../../util/printable.js';
import {type AbortRequest, sendHttpRequest} from './http-request.js';

type OneWayPostsOptions = {
	readonly name: string;
	readonly url: URL;
	readonly log: Log;
	readonly oneWayTimeoutMs?: number | undefined;
	readonly onResponse?: (received: IncomingHttpHeaders, sent: Headers) => void;
};

/** Pending messages and bytes beyond which backpressure is applied to the senders. */
const [MAX_MESSAGES, MAX_BYTES] = [1000, 8 * 2 ** 20];
/** Equal to the default timeout of requests. */
const ONE_WAY_TIMEOUT_MS = 60_000;

/**
 * Posts messages that have no response: notifications, and responses to server requests.
 *
 * They are buffered until the upstream has accepted them. At the limit, the valves of the senders are shut
 * until pending POSTs complete. A POST that times out is aborted.
 */
export class OneWayPosts {
	readonly #options: OneWayPostsOptions;
	#messages = 0;
	#bytes = 0;
	readonly #shutValves = new Map<Valve, () => void>();

	constructor(options: OneWayPostsOptions) {
		this.#options = options;
	}

	/** Calls `onDone` once, with the status of the response, or with undefined if there is none. */
	post(envelope: Envelope, onDone: (status: number | undefined) => void = () => {}): AbortRequest {
		const {oneWayTimeoutMs: timeoutMs = ONE_WAY_TIMEOUT_MS, url} = this.#options;
		const release = this.#acquire(envelope);
		let hasResponse = false;
		const fail = (reason: string): void => {
			if (hasResponse) return;
			this.#warn(envelope, {reason});
			onDone(undefined);
		};
		const timer = setTimeout(() => {
			cancel();
			fail(`no response within ${timeoutMs} ms`);
		}, timeoutMs).unref();
		const abort = sendHttpRequest({
			method: 'POST',
			url,
			headers: envelope.headers ?? {},
			body: envelope.bytes,
			onResponse: (status, responseHeaders) => {
				hasResponse = true;
				this.#options.onResponse?.(responseHeaders, envelope.headers ?? {});
				if (status >= 300) this.#warn(envelope, {status});
				onDone(status);
				return {onData: () => {}, onEnd: finish};
			},
			onError: error => {
				finish();
				fail(error.message);
			},
		});
		function finish(): void {
			clearTimeout(timer);
			release();
		}
		function cancel(): void {
			finish();
			abort();
		}
		return cancel;
	}

	/** Counts a message until the returned function is called. Further calls have no effect. */
	#acquire({size, origin: {valve}}: Envelope): () => void {
		this.#messages++;
		this.#bytes += size;
		if (this.#isFull && !this.#shutValves.has(valve)) this.#shutValves.set(valve, valve.shut());
		let isAcquired = true;
		return () => {
			if (!isAcquired) return;
			isAcquired = false;
			this.#messages--;
			this.#bytes -= size;
			if (!this.#isFull) this.#openValves();
		};
	}

	get #isFull(): boolean {
		return this.#messages >= MAX_MESSAGES || this.#bytes >= MAX_BYTES;
	}

	#openValves(): void {
		const all = [...this.#shutValves.values()];
		this.#shutValves.clear();
		for (const open of all) open();
	}

	#warn({head: {method = 'a response'}}: Envelope, fields: {readonly [key: string]: unknown}): void {
		const {name, log} = this.#options;
		const text = `${name} did not accept ${shortened(method)}.`;
		warnRateLimited(log, 'http.not_taken', text, {server: name, ...fields}, name);
	}
}
