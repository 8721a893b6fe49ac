import {BoundedMap} from '../bounded-map.js';
import {change} from '../change.js';
import {Envelope} from '../envelope.js';
import {type JsonObject, listOf, objectOf} from '../protocol/json.js';
import type {Session} from '../protocol/session.js';
import {SUBSCRIPTION_ID} from '../protocol/v2026-07-28.js';
import type {Outlets} from '../stage.js';

/** Streams of notifications that a client may hold open at a time; the oldest is forgotten for the next. */
const MAX_LISTENERS = 1000;

/** What a client can listen to, with the notification and the capability that it comes from. */
const lists = [
	{member: 'toolsListChanged', method: 'notifications/tools/list_changed', capability: 'tools'},
	{member: 'promptsListChanged', method: 'notifications/prompts/list_changed', capability: 'prompts'},
	{member: 'resourcesListChanged', method: 'notifications/resources/list_changed', capability: 'resources'},
] as const;
const UPDATED = 'notifications/resources/updated';

type Listener = {
	/** The id of the request that opened it, as text. */
	readonly id: string;
	/** What it hears of. */
	readonly methods: readonly string[];
	readonly uris: Set<string>;
	/** Subscriptions without an answer yet. */
	waiting: number;
};

/** The streams of notifications that a modern client has opened, served from what a handshake server sends to all. */
export class Listeners {
	readonly #session: Session;
	readonly #out: Outlets;
	readonly #listeners = new BoundedMap<string, Listener>(MAX_LISTENERS);
	/** Requests to subscribe that are under way, by their keys. */
	readonly #subscribing = new BoundedMap<string, {readonly listener: Listener; readonly uri: string}>(65_536);

	constructor(session: Session, out: Outlets) {
		this.#session = session;
		this.#out = out;
	}

	/** Opens a stream with what the server really offers of what is wanted. */
	open(id: string, wanted: JsonObject): undefined {
		const capabilities = objectOf(this.#session.initializeResult?.capabilities);
		const offered = lists.filter(
			({member, capability}) =>
				wanted[member] === true && objectOf(capabilities[capability]).listChanged === true,
		);
		const canSubscribe = objectOf(capabilities.resources).subscribe === true;
		const uris = canSubscribe
			? listOf(wanted.resourceSubscriptions).filter(uri => typeof uri === 'string')
			: [];
		const listener = {
			id,
			methods: offered.map(({method}) => method),
			uris: new Set(uris),
			waiting: uris.length,
		};
		this.#listeners.set(id, listener);
		for (const uri of uris) this.#subscribe(listener, uri);
		if (uris.length === 0) this.#acknowledge(listener);
	}

	#subscribe(listener: Listener, uri: string): void {
		const id = this.#session.ownId();
		this.#subscribing.set(JSON.stringify(id), {listener, uri});
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id, method: 'resources/subscribe', params: {uri}}));
	}

	/** Whether an answer is one to a subscription. */
	answered({head}: Envelope, key: string): boolean {
		const found = this.#subscribing.take(key);
		if (!found) return false;
		const {listener, uri} = found;
		if (head.hasError) listener.uris.delete(uri);
		listener.waiting--;
		if (listener.waiting === 0) this.#acknowledge(listener);
		return true;
	}

	#acknowledge({id, methods, uris}: Listener): void {
		const granted = lists.filter(({method}) => methods.includes(method)).map(({member}) => [member, true]);
		const notifications = {
			...Object.fromEntries(granted),
			...(uris.size > 0 ? {resourceSubscriptions: [...uris]} : {}),
		};
		const params = {_meta: {[SUBSCRIPTION_ID]: JSON.parse(id)}, notifications};
		const method = 'notifications/subscriptions/acknowledged';
		this.#out.toClient(Envelope.of({jsonrpc: '2.0', method, params}));
	}

	isConcernedWith(method: string): boolean {
		return method === UPDATED || lists.some(list => list.method === method);
	}

	/** Tells each stream that wants to know. */
	tell(envelope: Envelope, method: string): undefined {
		const {uri} = objectOf(envelope.body.params);
		for (const {id, methods, uris, waiting} of this.#listeners.values()) {
			const isWanted = method === UPDATED ? uris.has(String(uri)) : methods.includes(method);
			if (!isWanted || waiting > 0) continue;
			const named = change(envelope, body => {
				const params = objectOf(body.params);
				const _meta = {...objectOf(params._meta), [SUBSCRIPTION_ID]: JSON.parse(id)};
				return {...body, params: {...params, _meta}};
			});
			this.#out.toClient(named);
		}
	}

	/** Whether the request with this id was a stream, which is closed then. */
	close(id: string): boolean {
		const listener = this.#listeners.take(id);
		if (!listener) return false;
		const others = [...this.#listeners.values()];
		for (const uri of listener.uris) if (!others.some(({uris}) => uris.has(uri))) this.#unsubscribe(uri);
		return true;
	}

	#unsubscribe(uri: string): void {
		const id = this.#session.ownId();
		const nobody = {id: '""', methods: [], uris: new Set<string>(), waiting: Number.POSITIVE_INFINITY};
		this.#subscribing.set(JSON.stringify(id), {listener: nobody, uri});
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id, method: 'resources/unsubscribe', params: {uri}}));
	}
}
