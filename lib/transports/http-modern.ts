import type {ServerResponse} from 'node:http';
import {Channel} from '../channel.js';
import {Envelope, type Headers, type Origin} from '../envelope.js';
import {modernStatus} from '../http/rpc-status.js';
import type {Log} from '../log.js';
import {PassingMap} from '../passing-map.js';
import {SUBSCRIPTION_ID} from '../protocol/v2026-07-28.js';
import type {Endpoint} from '../stage.js';
import {Valve} from '../valve.js';
import {canonicalId} from '../wire/id.js';
import {memberRange, memberText} from '../wire/member.js';
import {HttpReply} from './http-reply.js';
import type {Post} from './http-session-options.js';
import {type SignAfter, SignsOfLife} from './signs-of-life.js';

export type ModernPostsOptions = {
	readonly name: string;
	readonly log: Log;
	/** How long a client may wait for its answer without a sign of life; without it, as long as it takes. */
	readonly signAfterMs?: SignAfter;
	readonly keepAliveMs?: number;
	/** All clients disconnected before any response could be delivered. */
	readonly onAbandoned?: () => void;
};

/** A request that is not answered, and what its client calls it. */
type Asked = {
	readonly reply: HttpReply;
	readonly id: string;
	/** The token that the client wants to hear of its progress under, as text. */
	readonly token: string | undefined;
};

const LISTEN = 'subscriptions/listen';
const TOKEN = ['params', '_meta', 'progressToken'] as const;

/**
 * The requests of a client without sessions, each of which stands for itself. Its programs may count their requests as
 * they like: towards the server all have ids and tokens of their own.
 */
export class ModernPosts implements Endpoint {
	readonly name: string;
	readonly incoming = new Channel();
	readonly outgoing = {
		next: (envelope: Envelope): void => this.#deliver(envelope),
		error: (): void => this.#end(),
		complete: (): void => this.#end(),
	};
	readonly gone: Promise<void>;
	readonly #options: ModernPostsOptions;
	readonly #valve = new Valve();
	/** By the key that the request has towards the server. */
	readonly #asked = new PassingMap<string, Asked>();
	readonly #signs: SignsOfLife;
	#count = 0;
	/** Whether a response was delivered. */
	#isUsed = false;
	#isGone: () => void = () => {};

	constructor(options: ModernPostsOptions) {
		this.#options = options;
		this.name = options.name;
		const replies = (): HttpReply[] => [...this.#asked.values()].map(({reply}) => reply);
		this.#signs = new SignsOfLife(replies, options.signAfterMs);
		this.gone = new Promise(resolve => {
			this.#isGone = resolve;
		});
	}

	get isInUse(): boolean {
		return this.#asked.size > 0;
	}

	get isHeldBack(): boolean {
		return !this.#valve.isOpen;
	}

	get unanswered(): number {
		return this.#asked.size;
	}

	post({envelope, headers, accepts, response}: Post): void {
		const origin: Origin = {name: this.name, valve: this.#valve, headers};
		const received = envelope.cameFrom(origin);
		const {id, method} = received.head;
		if (id === undefined || method === undefined) {
			response.writeHead(202, {'content-length': 0}).end();
			this.incoming.next(received);
			return;
		}
		const told = `"post-${++this.#count}"`;
		const range = memberRange(received.bytes, ...TOKEN);
		const token = range && received.bytes.toString('utf8', ...range);
		const renamed = (range ? received.replaced(range, told) : received).withId(told);
		const reply = this.#newReply(received, accepts, response);
		this.#asked.set(told, {reply, id, token});
		this.#signs.watch(reply);
		response.once('close', () => {
			this.#isUsed ||= response.writableFinished;
			this.#left(told);
			if (!this.#isUsed && this.#asked.size === 0) this.#options.onAbandoned?.();
		});
		this.incoming.next(renamed);
	}

	#newReply(request: Envelope, accepts: Post['accepts'], response: ServerResponse): HttpReply {
		const {log, name, keepAliveMs} = this.#options;
		const none: Headers = {};
		const onSlow = (unreadBytes: number): void =>
			log.warn('sse.slow_client', `${name} does not read what it is sent; its stream was cut.`, {
				unreadBytes,
			});
		const reply = new HttpReply({
			number: 0,
			buffer: undefined,
			keepAliveMs,
			onSlow,
			response,
			accepts,
			request,
			headers: () => none,
			takesPriming: () => false,
			statusOf: answer => modernStatus(request.head.method, answer),
		});
		if (request.head.method === LISTEN) reply.begin();
		return reply;
	}

	/** A client that closes its connection gives its request up. */
	#left(told: string): void {
		if (!this.#asked.delete(told)) return;
		const params = {requestId: JSON.parse(told), reason: 'the client closed the connection'};
		this.incoming.next(Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params}));
	}

	#deliver(envelope: Envelope): void {
		const {method, key = ''} = envelope.head;
		if (method !== undefined) {
			this.#say(envelope, method);
			return;
		}
		const asked = this.#asked.get(key);
		if (!asked) return;
		this.#asked.delete(key);
		const refusal = envelope.origin.refusal;
		// Whoever asks what there is must not take the state of a server for an answer about its era.
		const isHidden =
			asked.reply.request.head.method === 'server/discover' && refusal && refusal.status !== 401;
		asked.reply.answer(
			isHidden ? Envelope.answer(asked.id, 'error', envelope.body.error) : envelope.withId(asked.id),
		);
	}

	#say(envelope: Envelope, method: string): void {
		if (method === 'notifications/progress') {
			const token = memberText(envelope.bytes, 'params', 'progressToken');
			const asked = token === undefined ? undefined : this.#asked.get(token);
			const range =
				asked?.token === undefined ? undefined : memberRange(envelope.bytes, 'params', 'progressToken');
			if (asked?.token !== undefined && range) asked.reply.say(envelope.replaced(range, asked.token));
			return;
		}
		const subscription = memberText(envelope.bytes, 'params', '_meta', SUBSCRIPTION_ID);
		const listener = subscription === undefined ? undefined : this.#asked.get(canonicalId(subscription));
		if (listener) {
			listener.reply.say(withSubscription(envelope, listener.id));
			return;
		}
		const {within} = envelope.origin;
		const asked = within === undefined ? undefined : this.#asked.get(canonicalId(within));
		const latest = [...this.#asked.values()].findLast(({reply}) => reply.request.head.method !== LISTEN);
		(asked ?? latest)?.reply.say(envelope);
	}

	#end(): void {
		for (const {reply} of this.#asked.values()) reply.drop();
		this.#asked.clear();
		this.#signs.stop();
		this.#isGone();
	}

	async close(): Promise<void> {
		this.#end();
		this.incoming.complete();
	}
}

/** The message, about the stream as its client calls it. */
function withSubscription(envelope: Envelope, id: string): Envelope {
	const range = memberRange(envelope.bytes, 'params', '_meta', SUBSCRIPTION_ID);
	return range ? envelope.replaced(range, id) : envelope;
}
