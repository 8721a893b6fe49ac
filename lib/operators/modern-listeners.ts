import {randomUUID} from 'node:crypto';
import {BoundedMap} from '../bounded-map.js';
import {Envelope, type Origin} from '../envelope.js';
import {type JsonObject, listOf, objectOf} from '../protocol/json.js';
import type {Session} from '../protocol/session.js';
import {SUBSCRIPTION_ID} from '../protocol/v2026-07-28.js';
import type {Outlets} from '../stage.js';
import type {WaitingRequests} from '../waiting-requests.js';
import {ExactNumbers} from '../wire/exact-numbers.js';
import {WordMap} from '../word-map.js';

/** Streams of notifications that a client may hold open at a time; the oldest is forgotten for the next. */
const MAX_LISTENERS = 1000;
/** Resources that one of them may be about. */
const MAX_URIS = 1000;
/** Resources of all of them, and the characters of their URIs. */
const [MAX_ALL_URIS, MAX_CHARACTERS] = [10_000, 2 ** 20];
/** Characters of the ids and URIs of pending subscriptions. */
const MAX_PENDING_CHARACTERS = 4 * 2 ** 20;
/** Bytes of a notification that is copied for each stream. Of a longer one, only the members that the protocol defines are. */
const MAX_COPIED = 64 * 2 ** 10;
/** Stands for the name of a stream in a text that is written once for all. Peers never see it. */
const NAME = JSON.stringify(randomUUID());
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
	readonly #subscribing = new WordMap<{readonly listener?: Listener; readonly uri: string}>(
		MAX_ALL_URIS,
		MAX_PENDING_CHARACTERS,
		({uri}) => uri.length,
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
		const full = this.#limitFor(uris);
		if (full !== undefined)
			return reply('error', {code: -32602, message: `Invalid params: more than ${full}`});
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

	/** The limit that a stream with these resources would exceed. */
	#limitFor(uris: ReadonlySet<string>): string | undefined {
		if (uris.size > MAX_URIS) return `${MAX_URIS} resources in a stream`;
		if (uris.size === 0) return;
		let [count, characters] = [0, 0];
		for (const all of [uris, ...[...this.#listeners.values()].map(listener => listener.uris)]) {
			count += all.size;
			for (const uri of all) characters += uri.length;
		}
		const isOver = count > MAX_ALL_URIS || characters > MAX_CHARACTERS;
		const limits = `${MAX_ALL_URIS} resources, or ${MAX_CHARACTERS} characters in their URIs`;
		return isOver ? `${limits}, in all streams` : undefined;
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
		const uri = method === UPDATED ? String(objectOf(envelope.body.params).uri) : '';
		const isWanted = ({methods, uris, isOpen}: Listener): boolean =>
			isOpen && (method === UPDATED ? uris.has(uri) : methods.includes(method));
		const names = [...this.#listeners.values()].filter(isWanted).map(({name}) => name);
		if (names.length === 0) return;
		const [before, after] = aroundName(envelope, method);
		for (const name of names) this.#out.toClient(envelope.withText(`${before}${name}${after}`));
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

/** A notification as text, before and after the name of the stream that it is sent in. */
function aroundName({body, size}: Envelope, method: string): readonly [before: string, after: string] {
	const params = objectOf(body.params);
	const isLong = size > MAX_COPIED;
	const known = method === UPDATED ? {uri: params.uri} : {};
	const _meta = {...(isLong ? {} : objectOf(params._meta)), [SUBSCRIPTION_ID]: JSON.parse(NAME) as unknown};
	const whole = isLong
		? {jsonrpc: '2.0', method, params: {...known, _meta}}
		: {...body, params: {...params, _meta}};
	const [before = '', after = ''] = JSON.stringify(whole).split(NAME);
	return [before, after];
}
