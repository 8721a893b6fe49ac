import type {Subscription} from 'rxjs';
import {Channel} from '../core/channel.js';
import type {Envelope} from '../core/envelope.js';
import type {Log} from '../core/log.js';
import type {Endpoint} from '../core/stage.js';
import {objectOf} from '../util/json.js';

type HttpOrSseOptions = {
	readonly name: string;
	readonly log: Log;
	/** Connects over streamable HTTP, or over its predecessor HTTP+SSE. */
	readonly http: () => Endpoint;
	readonly sse: () => Endpoint;
	/** Called when the upstream responds over HTTP+SSE. */
	readonly onSse?: () => void;
};

/** Whether an upstream rejects the method as unknown. Stateless upstreams do so with status 404. */
const isUnknownMethod = ({body}: Envelope): boolean => objectOf(body.error).code === -32601;

/** The statuses with which upstreams without streamable HTTP reject the first message. */
const FALLBACK_STATUSES: readonly unknown[] = [400, 404, 405];

/** An upstream whose transport is unknown. Streamable HTTP is tried first, then HTTP+SSE of 2024-11-05. */
export function httpOrSse(options: HttpOrSseOptions): Endpoint {
	const fallback = new TransportFallback(options);
	return {
		name: options.name,
		incoming: fallback.incoming,
		outgoing: {next: envelope => fallback.send(envelope), error: () => {}, complete: () => {}},
		disconnected: new Promise(() => {}),
		close: () => fallback.close(),
		hasQueued: id => fallback.hasQueued(id),
	};
}

class TransportFallback {
	readonly incoming = new Channel();
	readonly #options: HttpOrSseOptions;
	#endpoint: Endpoint;
	#subscription: Subscription;
	/** The first message, until the transport is decided. */
	#first: Envelope | undefined;
	#isDecided = false;

	constructor(options: HttpOrSseOptions) {
		this.#options = options;
		this.#endpoint = options.http();
		this.#subscription = this.#endpoint.incoming.subscribe(envelope => this.#onMessage(envelope));
	}

	#switchTo(endpoint: Endpoint, onMessage: (envelope: Envelope) => void): void {
		this.#subscription.unsubscribe();
		void this.#endpoint.close();
		this.#endpoint = endpoint;
		this.#subscription = endpoint.incoming.subscribe(onMessage);
	}

	send(envelope: Envelope): void {
		if (!this.#isDecided) this.#first ??= envelope;
		this.#endpoint.outgoing.next(envelope);
	}

	#onMessage(envelope: Envelope): void {
		const {errorReply} = envelope.origin;
		const first = this.#first;
		this.#isDecided = true;
		this.#first = undefined;
		const isFallbackStatus =
			FALLBACK_STATUSES.includes(errorReply?.status) && first?.head.method === 'initialize';
		// A JSON-RPC error means that the message was understood. With status 404, the path may be unknown.
		const isUnderstood =
			errorReply?.body.includes('"jsonrpc"') && (errorReply.status === 400 || isUnknownMethod(envelope));
		if (isFallbackStatus && !isUnderstood && first) this.#fallBack(first, envelope);
		else this.incoming.next(envelope);
	}

	#fallBack(first: Envelope, rejected: Envelope): void {
		const {name, log, sse} = this.#options;
		const message = `${name} does not support streamable HTTP; trying HTTP+SSE of 2024-11-05.`;
		log.info('http.fallback', message, {server: name, status: rejected.origin.errorReply?.status});
		let isDecided = false;
		this.#switchTo(sse(), envelope => {
			const isUnsupported = !isDecided && !envelope.isReceived;
			isDecided = true;
			if (!isUnsupported) this.#options.onSse?.();
			if (isUnsupported) this.#returnToHttp(rejected);
			else this.incoming.next(envelope);
		});
		this.#endpoint.outgoing.next(first);
	}

	/** HTTP+SSE failed, too. Emits the error of streamable HTTP, which the next message tries again. */
	#returnToHttp(rejected: Envelope): void {
		this.#switchTo(this.#options.http(), envelope => this.#onMessage(envelope));
		this.incoming.next(rejected);
	}

	hasQueued(id: string): boolean {
		return this.#endpoint.hasQueued?.(id) ?? false;
	}

	async close(): Promise<unknown> {
		this.#subscription.unsubscribe();
		this.incoming.complete();
		return this.#endpoint.close();
	}
}
