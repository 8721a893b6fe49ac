import type {ServerResponse} from 'node:http';
import {Channel} from '../../core/channel.js';
import {Envelope, type Headers, type MessageOrigin} from '../../core/envelope.js';
import {SlotMap} from '../../core/fast/slot-map.js';
import type {Log} from '../../core/log.js';
import type {Endpoint} from '../../core/stage.js';
import {Valve} from '../../core/valve.js';
import {statelessHttpStatus} from '../../http/rpc-status.js';
import {SUBSCRIPTION_ID} from '../../protocol/v2026-07-28.js';
import {canonicalId} from '../../wire/id.js';
import {memberRange, memberText} from '../../wire/member.js';
import {HttpReply} from './http-reply.js';
import type {HttpPost} from './http-session-options.js';
import {SlowReplies, type StreamDelay} from './slow-replies.js';

type StatelessPostsOptions = {
	readonly name: string;
	readonly log: Log;
	/** The delay before a reply without a response becomes an event stream [unlimited]. */
	readonly streamDelayMs?: StreamDelay;
	readonly keepAliveMs?: number;
	/** Called when all clients have disconnected before any response was delivered. */
	readonly onAbandoned?: () => void;
};

type PendingPost = {
	readonly reply: HttpReply;
	readonly id: string;
	readonly token: string | undefined;
};

const LISTEN_METHOD = 'subscriptions/listen';
const TOKEN_PATH = ['params', '_meta', 'progressToken'] as const;

/**
 * The independent requests of the stateless era. Ids of different clients may collide, so each request gets a
 * unique id and progress token for the upstream.
 */
export class StatelessPosts implements Endpoint {
	readonly name: string;
	readonly incoming = new Channel();
	readonly outgoing = {
		next: (envelope: Envelope): void => this.#deliver(envelope),
		error: (): void => this.#end(),
		complete: (): void => this.#end(),
	};
	readonly disconnected: Promise<void>;
	readonly #options: StatelessPostsOptions;
	readonly #valve = new Valve();
	readonly #pending = new SlotMap<string, PendingPost>();
	readonly #slowReplies: SlowReplies;
	#count = 0;
	#hasDelivered = false;
	#resolveDisconnected: () => void = () => {};

	constructor(options: StatelessPostsOptions) {
		this.#options = options;
		this.name = options.name;
		const replies = (): HttpReply[] => [...this.#pending.values()].map(({reply}) => reply);
		this.#slowReplies = new SlowReplies(replies, options.streamDelayMs);
		this.disconnected = new Promise(resolve => {
			this.#resolveDisconnected = resolve;
		});
	}

	get isInUse(): boolean {
		return this.#pending.size > 0;
	}

	get isBackpressured(): boolean {
		return !this.#valve.isOpen;
	}

	get pendingCount(): number {
		return this.#pending.size;
	}

	post({envelope, headers, accepts, response}: HttpPost): void {
		const origin: MessageOrigin = {name: this.name, valve: this.#valve, headers};
		const received = envelope.setOrigin(origin);
		const {id, method} = received.head;
		if (id === undefined || method === undefined) {
			response.writeHead(202, {'content-length': 0}).end();
			this.incoming.next(received);
			return;
		}
		const upstreamId = `"post-${++this.#count}"`;
		const range = memberRange(received.bytes, ...TOKEN_PATH);
		const token = range && received.bytes.toString('utf8', ...range);
		const renamed = (range ? received.withTextAt(range, upstreamId) : received).withId(upstreamId);
		const reply = this.#newReply(received, accepts, response);
		this.#pending.set(upstreamId, {reply, id, token});
		this.#slowReplies.watch(reply);
		response.once('close', () => {
			this.#hasDelivered ||= response.writableFinished;
			this.#onClientClosed(upstreamId);
			if (!this.#hasDelivered && this.#pending.size === 0) this.#options.onAbandoned?.();
		});
		this.incoming.next(renamed);
	}

	#newReply(request: Envelope, accepts: HttpPost['accepts'], response: ServerResponse): HttpReply {
		const {log, name, keepAliveMs} = this.#options;
		const noHeaders: Headers = {};
		const onSlow = (unreadBytes: number): void =>
			log.warn('sse.slow_client', `${name} does not read its stream; it was disconnected.`, {
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
			headers: () => noHeaders,
			acceptsPriming: () => false,
			statusOf: message => statelessHttpStatus(request.head.method, message),
		});
		if (request.head.method === LISTEN_METHOD) reply.start();
		return reply;
	}

	/** Cancels the request of a client that closes its connection. */
	#onClientClosed(upstreamId: string): void {
		if (!this.#pending.delete(upstreamId)) return;
		const params = {requestId: JSON.parse(upstreamId), reason: 'the client closed the connection'};
		this.incoming.next(Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params}));
	}

	#deliver(envelope: Envelope): void {
		const {method, key = ''} = envelope.head;
		if (method !== undefined) {
			this.#sendBeforeResponse(envelope, method);
			return;
		}
		const pending = this.#pending.get(key);
		if (!pending) return;
		this.#pending.delete(key);
		const {errorReply} = envelope.origin;
		// A client that probes the era must not mistake an HTTP error, such as 503, for a missing method.
		const isHidden =
			pending.reply.request.head.method === 'server/discover' && errorReply && errorReply.status !== 401;
		pending.reply.complete(
			isHidden ? Envelope.response(pending.id, 'error', envelope.body.error) : envelope.withId(pending.id),
		);
	}

	#sendBeforeResponse(envelope: Envelope, method: string): void {
		if (method === 'notifications/progress') {
			const token = memberText(envelope.bytes, 'params', 'progressToken');
			const pending = token === undefined ? undefined : this.#pending.get(token);
			const range =
				pending?.token === undefined ? undefined : memberRange(envelope.bytes, 'params', 'progressToken');
			if (pending?.token !== undefined && range)
				pending.reply.send(envelope.withTextAt(range, pending.token));
			return;
		}
		const subscription = memberText(envelope.bytes, 'params', '_meta', SUBSCRIPTION_ID);
		const listener = subscription === undefined ? undefined : this.#pending.get(canonicalId(subscription));
		if (listener) {
			listener.reply.send(withSubscription(envelope, listener.id));
			return;
		}
		const {relatedRequestId} = envelope.origin;
		const pending =
			relatedRequestId === undefined ? undefined : this.#pending.get(canonicalId(relatedRequestId));
		const latest = [...this.#pending.values()].findLast(
			({reply}) => reply.request.head.method !== LISTEN_METHOD,
		);
		(pending ?? latest)?.reply.send(envelope);
	}

	#end(): void {
		for (const {reply} of this.#pending.values()) reply.rejectSessionClosed();
		this.#pending.clear();
		this.#slowReplies.stop();
		this.#resolveDisconnected();
	}

	async close(): Promise<void> {
		this.#end();
		this.incoming.complete();
	}
}

function withSubscription(envelope: Envelope, id: string): Envelope {
	const range = memberRange(envelope.bytes, 'params', '_meta', SUBSCRIPTION_ID);
	return range ? envelope.withTextAt(range, id) : envelope;
}
