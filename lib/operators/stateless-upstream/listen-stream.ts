import {Envelope, type MessageOrigin} from '../../core/envelope.js';
import type {StageOutputs} from '../../core/stage.js';
import type {Negotiation} from '../../protocol/negotiation.js';
import {SUBSCRIPTION_ID} from '../../protocol/v2026-07-28.js';
import {type JsonObject, listOf, objectOf} from '../../util/json.js';

/** Requests that wait for the subscription to one resource. */
const MAX_PENDING_REPLIES = 100;
/** Resources that a client may be subscribed to at a time. */
const MAX_URIS = 10_000;
/** Characters of all their URIs, which are sent again with each subscription. */
const MAX_URI_CHARACTERS = 2 ** 20;
/** How often a stream that the server has ended is opened anew. */
const MAX_REOPENS = 10;

type SendReply = (member: 'result' | 'error', value: JsonObject) => undefined;

/** A request for notifications, with the resources that it names. */
type ListenRequest = {readonly key: string; readonly uris: ReadonlySet<string>};

/**
 * The one stream of notifications that a modern server sends for a handshake client. It is opened anew when it is to
 * carry something else: one request at a time, so that many changes in a row cost two.
 */
export class ListenStream {
	readonly #negotiation: Negotiation;
	readonly #out: StageOutputs;
	readonly #withMeta: (params: JsonObject) => JsonObject;
	/** What the client is subscribed to, or wants to be. */
	readonly #uris = new Set<string>();
	#characters = 0;
	/** Whom to answer when the server has taken note of a resource. */
	readonly #pendingReplies = new Map<string, SendReply[]>();
	#listChanges: JsonObject = {};
	/** The request that is acknowledged, and the one that is not yet. */
	#current: ListenRequest | undefined;
	#next: ListenRequest | undefined;
	/** Whether there is more to carry than the one that is not acknowledged says. */
	#isStale = false;
	#reopened = 0;

	constructor(negotiation: Negotiation, out: StageOutputs, withMeta: (params: JsonObject) => JsonObject) {
		this.#negotiation = negotiation;
		this.#out = out;
		this.#withMeta = withMeta;
	}

	/** What the server has to tell of. */
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

	/** Opens the stream, unless it is open. */
	start(): void {
		if (!this.#current && !this.#next) this.open();
	}

	/** Opens the stream with all that is wanted by now. The one before it is closed when this one stands. */
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
		// No later stream has this URI, so that its acknowledgement would not settle them.
		const replies = this.#pendingReplies.get(uri) ?? [];
		this.#pendingReplies.delete(uri);
		const message = 'Invalid params: unsubscribed before the server responded';
		for (const each of replies) each('error', {code: -32602, message});
		return reply('result', {});
	}

	/** The server tells what it will tell of. */
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

	/** Whether something is the end of a stream, which is opened anew then, unless it never stood. */
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

	/** Answers those who asked for what a request named. */
	#replyToSubscribers({uris}: ListenRequest, granted: ReadonlySet<unknown>): void {
		for (const uri of uris) {
			if (!granted.has(uri)) this.#removeUri(uri);
			const replies = this.#pendingReplies.get(uri) ?? [];
			this.#pendingReplies.delete(uri);
			const message = `Invalid params: the server has no updates of ${uri}`;
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
