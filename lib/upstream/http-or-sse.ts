import type {Subscription} from 'rxjs';
import {Channel} from '../core/channel.js';
import type {Envelope} from '../core/envelope.js';
import type {Log} from '../core/log.js';
import type {Endpoint} from '../core/stage.js';
import {objectOf} from '../util/json.js';

type HttpOrSseOptions = {
	readonly name: string;
	readonly log: Log;
	/** The server over streamable HTTP, and over what came before it. */
	readonly http: () => Endpoint;
	readonly sse: () => Endpoint;
	/** It is the latter. */
	readonly onSse?: () => void;
};

/** Whether a server says that it does not know the method, as those without a handshake do, with status 404. */
const isUnknownMethod = ({body}: Envelope): boolean => objectOf(body.error).code === -32601;

/** What a server answers that does not know streamable HTTP. */
const FALLBACK_STATUSES: readonly unknown[] = [400, 404, 405];

/**
 * A server of which nobody knows whether it speaks streamable HTTP. It is tried first; a server that does not take the
 * first message that way is spoken to over HTTP+SSE of 2024-11-05.
 */
export function httpOrSse(options: HttpOrSseOptions): Endpoint {
	const fallback = new TransportFallback(options);
	return {
		name: options.name,
		incoming: fallback.incoming,
		outgoing: {next: envelope => fallback.send(envelope), error: () => {}, complete: () => {}},
		disconnected: new Promise(() => {}),
		close: () => fallback.close(),
		hasQueued: id => fallback.holds(id),
	};
}

class TransportFallback {
	readonly incoming = new Channel();
	readonly #options: HttpOrSseOptions;
	#endpoint: Endpoint;
	#subscription: Subscription;
	/** The first message, as long as it is not known how the server wants it. */
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
		// A server that says in JSON-RPC why it refuses has understood the message; an unknown path may look like that, too.
		const isUnderstood =
			errorReply?.body.includes('"jsonrpc"') && (errorReply.status === 400 || isUnknownMethod(envelope));
		if (isFallbackStatus && !isUnderstood && first) this.#fallBack(first, envelope);
		else this.incoming.next(envelope);
	}

	#fallBack(first: Envelope, rejected: Envelope): void {
		const {name, log, sse} = this.#options;
		const sentence = `${name} does not take streamable HTTP; HTTP+SSE of 2024-11-05 is tried.`;
		log.info('http.fallback', sentence, {server: name, status: rejected.origin.errorReply?.status});
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

	/** It does not speak that either. So it is told of as it was when it was first asked, and asked that way again. */
	#returnToHttp(rejected: Envelope): void {
		this.#switchTo(this.#options.http(), envelope => this.#onMessage(envelope));
		this.incoming.next(rejected);
	}

	holds(id: string): boolean {
		return this.#endpoint.hasQueued?.(id) ?? false;
	}

	async close(): Promise<unknown> {
		this.#subscription.unsubscribe();
		this.incoming.complete();
		return this.#endpoint.close();
	}
}
