import {randomUUID} from 'node:crypto';
import {Envelope, type MessageOrigin} from '../../core/envelope.js';
import type {PendingRequests} from '../../core/requests/pending.js';
import type {StageOutputs} from '../../core/stage.js';
import type {Negotiation} from '../../protocol/negotiation.js';
import {SUBSCRIPTION_ID} from '../../protocol/v2026-07-28.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {BoundedStringMap} from '../../util/bounded-string-map.js';
import {type JsonObject, listOf, objectOf} from '../../util/json.js';
import {ExactNumbers} from '../../wire/exact-numbers.js';

/** Open streams of one client. The oldest is evicted for the next. */
const MAX_STREAMS = 1000;
/** Resources per stream. */
const MAX_URIS = 1000;
/** Resources of all streams, and the characters of their URIs. */
const [MAX_ALL_URIS, MAX_CHARACTERS] = [10_000, 2 ** 20];
/** Characters of the ids and URIs of pending subscriptions. */
const MAX_PENDING_CHARACTERS = 4 * 2 ** 20;
/** Bytes of a notification that is copied to each stream. Longer ones are reduced to standard members. */
const MAX_COPIED = 64 * 2 ** 10;
/** Placeholder for the stream id in the shared text of a notification. Never sent. */
const ID_PLACEHOLDER = JSON.stringify(randomUUID());
/** After this time, a stream opens without the subscriptions that are still pending. */
const SUBSCRIBE_TIMEOUT_MS = 10_000;

/** The filters of a stream, each with its notification and the capability that it needs. */
const listNotifications = [
	{member: 'toolsListChanged', method: 'notifications/tools/list_changed', capability: 'tools'},
	{member: 'promptsListChanged', method: 'notifications/prompts/list_changed', capability: 'prompts'},
	{member: 'resourcesListChanged', method: 'notifications/resources/list_changed', capability: 'resources'},
] as const;
const UPDATED = 'notifications/resources/updated';

type NotificationStream = {
	readonly id: string;
	/** The id as the client sent it, in JSON. */
	readonly streamId: string;
	readonly origin: MessageOrigin;
	readonly methods: readonly string[];
	readonly uris: Set<string>;
	/** Resources with a pending resources/subscribe. */
	readonly pendingUris: Set<string>;
	isOpen: boolean;
	timer: NodeJS.Timeout | undefined;
};

type SendReply = (member: 'result' | 'error', value: JsonObject) => undefined;

/** The notification streams of a stateless client, fed from the notifications of a handshake upstream. */
export class NotificationStreams {
	readonly #negotiation: Negotiation;
	readonly #pending: PendingRequests;
	readonly #out: StageOutputs;
	readonly #streams = new BoundedMap<string, NotificationStream>(MAX_STREAMS);
	/** Pending requests to subscribe or unsubscribe, by key. Those to unsubscribe have no stream. */
	readonly #subscribing = new BoundedStringMap<{
		readonly stream?: NotificationStream;
		readonly uri: string;
	}>(MAX_ALL_URIS, MAX_PENDING_CHARACTERS, ({uri}) => uri.length);

	constructor(negotiation: Negotiation, pending: PendingRequests, out: StageOutputs) {
		this.#negotiation = negotiation;
		this.#pending = pending;
		this.#out = out;
	}

	/** Opens a stream with the requested notifications that the upstream offers. */
	open({head: {id = '', key = ''}, origin, body}: Envelope, reply: SendReply): undefined {
		const requested = objectOf(objectOf(body.params).notifications);
		const capabilities = objectOf(this.#negotiation.initializeResult?.capabilities);
		const offered = listNotifications.filter(
			({member, capability}) =>
				requested[member] === true && objectOf(capabilities[capability]).listChanged === true,
		);
		const canSubscribe = objectOf(capabilities.resources).subscribe === true;
		const requestedUris = listOf(requested.resourceSubscriptions).filter(uri => typeof uri === 'string');
		const uris = new Set(canSubscribe ? requestedUris : []);
		const limit = this.#limitFor(uris);
		if (limit !== undefined)
			return reply('error', {code: -32602, message: `Invalid params: more than ${limit}`});
		const methods = offered.map(({method}) => method);
		const stream: NotificationStream = {
			id,
			streamId: this.#pending.idOf(key) ?? id,
			origin,
			methods,
			uris,
			pendingUris: new Set(uris),
			isOpen: false,
			timer: undefined,
		};
		this.#streams.set(id, stream);
		for (const uri of uris) this.#request('resources/subscribe', uri, origin, stream);
		if (uris.size === 0) this.#acknowledge(stream);
		else stream.timer = setTimeout(() => this.#acknowledge(stream), SUBSCRIBE_TIMEOUT_MS).unref();
	}

	/** The limit that a stream with these resources would exceed, for the error message. */
	#limitFor(uris: ReadonlySet<string>): string | undefined {
		if (uris.size > MAX_URIS) return `${MAX_URIS} resources in a stream`;
		if (uris.size === 0) return;
		let [count, characters] = [0, 0];
		for (const all of [uris, ...[...this.#streams.values()].map(stream => stream.uris)]) {
			count += all.size;
			for (const uri of all) characters += uri.length;
		}
		const isExceeded = count > MAX_ALL_URIS || characters > MAX_CHARACTERS;
		const limits = `${MAX_ALL_URIS} resources, or ${MAX_CHARACTERS} characters in their URIs`;
		return isExceeded ? `${limits}, in all streams` : undefined;
	}

	#request(method: string, uri: string, origin: MessageOrigin, stream?: NotificationStream): void {
		const id = this.#negotiation.nextRequestId();
		this.#subscribing.set(JSON.stringify(id), stream ? {stream, uri} : {uri});
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id, method, params: {uri}}, origin));
	}

	/** Returns whether a response belongs to a subscription request. */
	handleResponse({head}: Envelope, key: string): boolean {
		const subscription = this.#subscribing.take(key);
		if (!subscription) return false;
		const {stream, uri} = subscription;
		if (head.hasError) stream?.uris.delete(uri);
		stream?.pendingUris.delete(uri);
		if (stream?.pendingUris.size === 0) this.#acknowledge(stream);
		return true;
	}

	#acknowledge(stream: NotificationStream): void {
		const {id, streamId, methods, uris, pendingUris, isOpen, origin} = stream;
		if (isOpen || this.#streams.get(id) !== stream) return;
		stream.isOpen = true;
		clearTimeout(stream.timer);
		for (const uri of pendingUris) uris.delete(uri);
		const granted = listNotifications
			.filter(({method}) => methods.includes(method))
			.map(({member}) => [member, true]);
		const notifications = {
			...Object.fromEntries(granted),
			...(uris.size > 0 ? {resourceSubscriptions: [...uris]} : {}),
		};
		const exact = new ExactNumbers();
		const params = {_meta: {[SUBSCRIPTION_ID]: exact.raw(streamId)}, notifications};
		const method = 'notifications/subscriptions/acknowledged';
		this.#out.toClient(Envelope.fromText(exact.stringify({jsonrpc: '2.0', method, params}), origin));
	}

	handles(method: string): boolean {
		return method === UPDATED || listNotifications.some(list => list.method === method);
	}

	/** Sends a notification on each stream that is subscribed to it. */
	forward(envelope: Envelope, method: string): undefined {
		const uri = method === UPDATED ? String(objectOf(envelope.body.params).uri) : '';
		const isSubscribed = ({methods, uris, isOpen}: NotificationStream): boolean =>
			isOpen && (method === UPDATED ? uris.has(uri) : methods.includes(method));
		const streamIds = [...this.#streams.values()].filter(isSubscribed).map(({streamId}) => streamId);
		if (streamIds.length === 0) return;
		const [before, after] = aroundStreamId(envelope, method);
		for (const streamId of streamIds) this.#out.toClient(envelope.withText(`${before}${streamId}${after}`));
	}

	/** Closes the stream with this id. Returns whether there was one. */
	close(id: string): boolean {
		const stream = this.#streams.take(id);
		if (!stream) return false;
		clearTimeout(stream.timer);
		const others = [...this.#streams.values()];
		for (const uri of stream.uris)
			if (!others.some(({uris}) => uris.has(uri))) this.#request('resources/unsubscribe', uri, stream.origin);
		return true;
	}

	stop(): void {
		for (const {timer} of this.#streams.values()) clearTimeout(timer);
	}
}

/** The text of a notification before and after the stream id. */
function aroundStreamId({body, size}: Envelope, method: string): readonly [before: string, after: string] {
	const params = objectOf(body.params);
	const isLong = size > MAX_COPIED;
	const protocolMembers = method === UPDATED ? {uri: params.uri} : {};
	const _meta = {
		...(isLong ? {} : objectOf(params._meta)),
		[SUBSCRIPTION_ID]: JSON.parse(ID_PLACEHOLDER) as unknown,
	};
	const notification = isLong
		? {jsonrpc: '2.0', method, params: {...protocolMembers, _meta}}
		: {...body, params: {...params, _meta}};
	const [before = '', after = ''] = JSON.stringify(notification).split(ID_PLACEHOLDER);
	return [before, after];
}
