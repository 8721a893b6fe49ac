import {Envelope, type MessageOrigin} from '../../core/envelope.js';
import type {StageOutputs} from '../../core/stage.js';
import type {Negotiation} from '../../protocol/negotiation.js';
import {SUBSCRIPTION_ID} from '../../protocol/v2026-07-28.js';
import {type JsonObject, listOf, objectOf} from '../../util/json.js';

/** Pending requests per resource. */
const MAX_PENDING_REPLIES = 100;
/** Subscribed resources of a client. */
const MAX_URIS = 10_000;
/** Characters of all subscribed URIs. Limited, because each new subscription sends all of them again. */
const MAX_URI_CHARACTERS = 2 ** 20;
/** Reopenings of a stream that the upstream has closed. */
const MAX_REOPENS = 10;

type SendReply = (member: 'result' | 'error', value: JsonObject) => undefined;

/** A `subscriptions/listen` request, with its resources. */
type ListenRequest = {readonly key: string; readonly uris: ReadonlySet<string>};

/**
 * The notification stream of a stateless upstream for a handshake client. A change of the subscriptions opens
 * a new stream. Only one opening is pending at a time, so that a burst of changes opens two streams.
 */
export class ListenStream {
	readonly #negotiation: Negotiation;
	readonly #out: StageOutputs;
	readonly #withMeta: (params: JsonObject) => JsonObject;
	/** Subscribed resources, including pending ones. */
	readonly #uris = new Set<string>();
	#characters = 0;
	readonly #pendingReplies = new Map<string, SendReply[]>();
	#listChanges: JsonObject = {};
	/** The acknowledged request. */
	#current: ListenRequest | undefined;
	/** The request that is not acknowledged yet. */
	#next: ListenRequest | undefined;
	/** Whether the subscriptions have changed since the pending request. */
	#isStale = false;
	#reopened = 0;

	constructor(negotiation: Negotiation, out: StageOutputs, withMeta: (params: JsonObject) => JsonObject) {
		this.#negotiation = negotiation;
		this.#out = out;
		this.#withMeta = withMeta;
	}

	setCapabilities({tools, prompts, resources}: JsonObject): void {
		const capabilities = {
			toolsListChanged: tools,
			promptsListChanged: prompts,
			resourcesListChanged: resources,
		};
		const offered = Object.entries(capabilities).filter(
			([, capability]) => objectOf(capability).listChanged === true,
		);
		this.#listChanges = Object.fromEntries(offered.map(([name]) => [name, true]));
	}

	start(): void {
		if (!this.#current && !this.#next) this.open();
	}

	/** Opens a stream with all current subscriptions. The previous one is closed on its acknowledgment. */
	open(origin?: MessageOrigin): void {
		if (this.#next) {
			this.#isStale = true;
			return;
		}
		const uris = new Set(this.#uris);
		const resources = uris.size > 0 ? {resourceSubscriptions: [...uris]} : {};
		const notifications = {...this.#listChanges, ...resources};
		if (Object.keys(notifications).length === 0) {
			this.#close();
			return;
		}
		const id = this.#negotiation.nextRequestId();
		this.#next = {key: JSON.stringify(id), uris};
		const params = this.#withMeta({notifications});
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id, method: 'subscriptions/listen', params}, origin));
	}

	subscribe(uri: string, origin: MessageOrigin, reply: SendReply): undefined {
		const limit = this.#uris.has(uri) ? undefined : this.#limitFor(uri);
		if (limit !== undefined)
			return reply('error', {code: -32602, message: `Invalid params: more than ${limit}`});
		const replies = this.#pendingReplies.get(uri);
		if (replies && replies.length >= MAX_PENDING_REPLIES)
			return reply('error', {code: -32603, message: 'Too many requests wait for this subscription'});
		if (!this.#uris.has(uri)) this.#characters += uri.length;
		this.#uris.add(uri);
		if (replies) replies.push(reply);
		else this.#pendingReplies.set(uri, [reply]);
		this.open(origin);
	}

	/** The limit that another subscription would exceed. */
	#limitFor(uri: string): string | undefined {
		if (this.#uris.size >= MAX_URIS) return `${MAX_URIS} subscriptions`;
		const isLong = this.#characters + uri.length > MAX_URI_CHARACTERS;
		return isLong ? `${MAX_URI_CHARACTERS} characters in the URIs of all subscriptions` : undefined;
	}

	#removeUri(uri: string): boolean {
		const isRemoved = this.#uris.delete(uri);
		if (isRemoved) this.#characters -= uri.length;
		return isRemoved;
	}

	unsubscribe(uri: string, origin: MessageOrigin, reply: SendReply): undefined {
		if (this.#removeUri(uri)) this.open(origin);
		// No later acknowledgment contains this URI, so its pending requests are settled here.
		const replies = this.#pendingReplies.get(uri) ?? [];
		this.#pendingReplies.delete(uri);
		const message = 'Invalid params: unsubscribed before the server responded';
		for (const each of replies) each('error', {code: -32602, message});
		return reply('result', {});
	}

	acknowledged({_meta, notifications}: JsonObject): void {
		const key = JSON.stringify(objectOf(_meta)[SUBSCRIPTION_ID]);
		const next = this.#next;
		if (!next || key !== next.key) return;
		this.#close();
		this.#current = next;
		this.#next = undefined;
		this.#replyToSubscribers(next, new Set(listOf(objectOf(notifications).resourceSubscriptions)));
		if (this.#isStale) {
			this.#isStale = false;
			this.open();
		}
	}

	/** Handles the end of a stream, and reopens an acknowledged one. Returns whether it was a stream. */
	handleEnd(key: string | undefined): boolean {
		if (key !== undefined && key === this.#current?.key) {
			this.#current = undefined;
			if (this.#reopened++ < MAX_REOPENS) this.open();
			return true;
		}
		if (key === undefined || key !== this.#next?.key) return false;
		const {uris} = this.#next;
		this.#next = undefined;
		this.#replyToSubscribers({key, uris}, new Set());
		return true;
	}

	#replyToSubscribers({uris}: ListenRequest, granted: ReadonlySet<unknown>): void {
		for (const uri of uris) {
			if (!granted.has(uri)) this.#removeUri(uri);
			const replies = this.#pendingReplies.get(uri) ?? [];
			this.#pendingReplies.delete(uri);
			const message = `Invalid params: the server offers no updates of ${uri}`;
			for (const reply of replies)
				if (granted.has(uri)) reply('result', {});
				else reply('error', {code: -32602, message});
		}
	}

	#close(): void {
		if (!this.#current) return;
		const params = {requestId: JSON.parse(this.#current.key)};
		this.#current = undefined;
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params}));
	}
}
