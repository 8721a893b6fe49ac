import {BoundedMap} from '../bounded-map.js';
import {Envelope, type Origin} from '../envelope.js';
import {type JsonObject, listOf, objectOf} from '../protocol/json.js';
import type {Session} from '../protocol/session.js';
import {SUBSCRIPTION_ID} from '../protocol/v2026-07-28.js';
import type {Outlets} from '../stage.js';
import type {WaitingRequests} from '../waiting-requests.js';
import {ExactNumbers} from '../wire/exact-numbers.js';

/** Streams of notifications that a client may hold open at a time; the oldest is forgotten for the next. */
const MAX_LISTENERS = 1000;
/** Resources that one of them may be about. */
const MAX_URIS = 1000;
/** How long a server may take to subscribe before the stream is opened without what it has not answered. */
const PATIENCE_MS = 10_000;

/** What a client can listen to, with the notification and the capability that it comes from. */
const lists = [
	{member: 'toolsListChanged', method: 'notifications/tools/list_changed', capability: 'tools'},
	{member: 'promptsListChanged', method: 'notifications/prompts/list_changed', capability: 'prompts'},
	{member: 'resourcesListChanged', method: 'notifications/resources/list_changed', capability: 'resources'},
] as const;
const UPDATED = 'notifications/resources/updated';

type Listener = {
	/** The id of the request that opened it, as text, and as the client wrote it. */
	readonly id: string;
	readonly name: string;
	readonly origin: Origin;
	/** What it hears of. */
	readonly methods: readonly string[];
	readonly uris: Set<string>;
	/** Resources whose subscription is not answered yet. */
	readonly waiting: Set<string>;
	isOpen: boolean;
	patience: NodeJS.Timeout | undefined;
};

type Reply = (member: 'result' | 'error', value: JsonObject) => undefined;

/** The streams of notifications that a modern client has opened, served from what a handshake server sends to all. */
export class Listeners {
	readonly #session: Session;
	readonly #requests: WaitingRequests;
	readonly #out: Outlets;
	readonly #listeners = new BoundedMap<string, Listener>(MAX_LISTENERS);
	/** Requests to subscribe that are under way, by their keys; those to unsubscribe are nobody's. */
	readonly #subscribing = new BoundedMap<string, {readonly listener?: Listener; readonly uri: string}>(
		MAX_LISTENERS * MAX_URIS,
	);

	constructor(session: Session, waiting: WaitingRequests, out: Outlets) {
		this.#session = session;
		this.#requests = waiting;
		this.#out = out;
	}

	/** Opens a stream with what the server really offers of what is wanted. */
	open({head: {id = '', key = ''}, origin, body}: Envelope, reply: Reply): undefined {
		const wanted = objectOf(objectOf(body.params).notifications);
		const capabilities = objectOf(this.#session.initializeResult?.capabilities);
		const offered = lists.filter(
			({member, capability}) =>
				wanted[member] === true && objectOf(capabilities[capability]).listChanged === true,
		);
		const canSubscribe = objectOf(capabilities.resources).subscribe === true;
		const named = listOf(wanted.resourceSubscriptions).filter(uri => typeof uri === 'string');
		const uris = new Set(canSubscribe ? named : []);
		if (uris.size > MAX_URIS)
			return reply('error', {
				code: -32602,
				message: `Invalid params: more than ${MAX_URIS} resources in a stream`,
			});
		const methods = offered.map(({method}) => method);
		const listener: Listener = {
			id,
			name: this.#requests.idOf(key) ?? id,
			origin,
			methods,
			uris,
			waiting: new Set(uris),
			isOpen: false,
			patience: undefined,
		};
		this.#listeners.set(id, listener);
		for (const uri of uris) this.#ask('resources/subscribe', uri, origin, listener);
		if (uris.size === 0) this.#acknowledge(listener);
		else listener.patience = setTimeout(() => this.#acknowledge(listener), PATIENCE_MS).unref();
	}

	#ask(method: string, uri: string, origin: Origin, listener?: Listener): void {
		const id = this.#session.ownId();
		this.#subscribing.set(JSON.stringify(id), listener ? {listener, uri} : {uri});
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id, method, params: {uri}}, origin));
	}

	/** Whether an answer is one to a subscription. */
	answered({head}: Envelope, key: string): boolean {
		const found = this.#subscribing.take(key);
		if (!found) return false;
		const {listener, uri} = found;
		if (head.hasError) listener?.uris.delete(uri);
		listener?.waiting.delete(uri);
		if (listener?.waiting.size === 0) this.#acknowledge(listener);
		return true;
	}

	#acknowledge(listener: Listener): void {
		const {id, name, methods, uris, waiting, isOpen, origin} = listener;
		if (isOpen || this.#listeners.get(id) !== listener) return;
		listener.isOpen = true;
		clearTimeout(listener.patience);
		for (const uri of waiting) uris.delete(uri);
		const granted = lists.filter(({method}) => methods.includes(method)).map(({member}) => [member, true]);
		const notifications = {
			...Object.fromEntries(granted),
			...(uris.size > 0 ? {resourceSubscriptions: [...uris]} : {}),
		};
		const exact = new ExactNumbers();
		const params = {_meta: {[SUBSCRIPTION_ID]: exact.raw(name)}, notifications};
		const method = 'notifications/subscriptions/acknowledged';
		this.#out.toClient(Envelope.fromText(exact.write({jsonrpc: '2.0', method, params}), origin));
	}

	isConcernedWith(method: string): boolean {
		return method === UPDATED || lists.some(list => list.method === method);
	}

	/** Tells each stream that wants to know. */
	tell(envelope: Envelope, method: string): undefined {
		const {body} = envelope;
		const params = objectOf(body.params);
		for (const {name, methods, uris, isOpen} of this.#listeners.values()) {
			const isWanted = method === UPDATED ? uris.has(String(params.uri)) : methods.includes(method);
			if (!isWanted || !isOpen) continue;
			const exact = new ExactNumbers();
			const _meta = {...objectOf(params._meta), [SUBSCRIPTION_ID]: exact.raw(name)};
			this.#out.toClient(envelope.withText(exact.write({...body, params: {...params, _meta}})));
		}
	}

	/** Whether the request with this id was a stream, which is closed then. */
	close(id: string): boolean {
		const listener = this.#listeners.take(id);
		if (!listener) return false;
		clearTimeout(listener.patience);
		const others = [...this.#listeners.values()];
		for (const uri of listener.uris)
			if (!others.some(({uris}) => uris.has(uri))) this.#ask('resources/unsubscribe', uri, listener.origin);
		return true;
	}

	stop(): void {
		for (const {patience} of this.#listeners.values()) clearTimeout(patience);
	}
}
