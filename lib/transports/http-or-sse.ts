import type {Subscription} from 'rxjs';
import {Channel} from '../channel.js';
import type {Envelope} from '../envelope.js';
import type {Log} from '../log.js';
import {objectOf} from '../protocol/json.js';
import type {Endpoint} from '../stage.js';

export type HttpOrSseOptions = {
	readonly name: string;
	readonly log: Log;
	/** The server over streamable HTTP, and over what came before it. */
	readonly http: () => Endpoint;
	readonly sse: () => Endpoint;
	/** It is the latter. */
	readonly onSse?: () => void;
};

/** Whether a server says that it does not know the method, as those without a handshake do, with status 404. */
const isUnknown = ({body}: Envelope): boolean => objectOf(body.error).code === -32601;

/** What a server answers that does not know streamable HTTP. */
const STRANGE: readonly unknown[] = [400, 404, 405];

/**
 * A server of which nobody knows whether it speaks streamable HTTP. It is tried first; a server that does not take the
 * first message that way is spoken to over HTTP+SSE of 2024-11-05.
 */
export function httpOrSse(options: HttpOrSseOptions): Endpoint {
	const server = new Fallback(options);
	return {
		name: options.name,
		incoming: server.incoming,
		outgoing: {next: envelope => server.say(envelope), error: () => {}, complete: () => {}},
		gone: new Promise(() => {}),
		close: () => server.close(),
		holds: id => server.holds(id),
	};
}

class Fallback {
	readonly incoming = new Channel();
	readonly #options: HttpOrSseOptions;
	#endpoint: Endpoint;
	#heard: Subscription;
	/** The first message, as long as it is not known how the server wants it. */
	#first: Envelope | undefined;
	#isDecided = false;

	constructor(options: HttpOrSseOptions) {
		this.#options = options;
		this.#endpoint = options.http();
		this.#heard = this.#endpoint.incoming.subscribe(envelope => this.#hear(envelope));
	}

	#use(endpoint: Endpoint, hear: (envelope: Envelope) => void): void {
		this.#heard.unsubscribe();
		void this.#endpoint.close();
		this.#endpoint = endpoint;
		this.#heard = endpoint.incoming.subscribe(hear);
	}

	say(envelope: Envelope): void {
		if (!this.#isDecided) this.#first ??= envelope;
		this.#endpoint.outgoing.next(envelope);
	}

	#hear(envelope: Envelope): void {
		const {refusal} = envelope.origin;
		const first = this.#first;
		this.#isDecided = true;
		this.#first = undefined;
		const isStrange = STRANGE.includes(refusal?.status) && first?.head.method === 'initialize';
		// A server that says in JSON-RPC why it refuses has understood the message; an unknown path may look like that, too.
		const hasUnderstood =
			refusal?.body.includes('"jsonrpc"') && (refusal.status === 400 || isUnknown(envelope));
		if (isStrange && !hasUnderstood && first) this.#fallBack(first, envelope);
		else this.incoming.next(envelope);
	}

	#fallBack(first: Envelope, refusal: Envelope): void {
		const {name, log, sse} = this.#options;
		const sentence = `${name} does not take streamable HTTP; HTTP+SSE of 2024-11-05 is tried.`;
		log.info('http.fallback', sentence, {server: name, status: refusal.origin.refusal?.status});
		let isHeard = false;
		this.#use(sse(), envelope => {
			const isNone = !isHeard && !envelope.isReceived;
			isHeard = true;
			if (!isNone) this.#options.onSse?.();
			if (isNone) this.#comeBack(refusal);
			else this.incoming.next(envelope);
		});
		this.#endpoint.outgoing.next(first);
	}

	/** It does not speak that either. So it is told of as it was when it was first asked, and asked that way again. */
	#comeBack(refusal: Envelope): void {
		this.#use(this.#options.http(), envelope => this.#hear(envelope));
		this.incoming.next(refusal);
	}

	holds(id: string): boolean {
		return this.#endpoint.holds?.(id) ?? false;
	}

	async close(): Promise<unknown> {
		this.#heard.unsubscribe();
		this.incoming.complete();
		return this.#endpoint.close();
	}
}
