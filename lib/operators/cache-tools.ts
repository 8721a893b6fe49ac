import {change} from '../change.js';
import {Envelope, local, type Origin} from '../envelope.js';
import {changed, isObject, objectOf} from '../protocol/json.js';
import type {Session} from '../protocol/session.js';
import type {NoToolList, ToolList} from '../protocol/tool-list.js';
import {envelopeProblem} from '../protocol/v2026-07-28.js';
import {MODERN} from '../protocol/version.js';
import type {Member, SharedTools} from '../shared-tools.js';
import {type Answer, type Outlets, type Stage, type Steps, stage} from '../stage.js';
import type {ToolsCache} from '../tools-cache.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';
import {FetchTools} from './fetch-tools.js';
import {LIST_CHANGED, ToolsStreams} from './tools-streams.js';

export type CacheToolsOptions = {
	readonly session: Session;
	/** Where the list is kept, which conversations may share that may see each other's tools. */
	readonly cache: ToolsCache;
	/** How long the server may take for a page of a list that is to be cached; 0 for the default. */
	readonly timeoutMs?: number;
};

/** Nobody waits for ever for a list that nobody has asked for. */
const PATIENCE_MS = 60_000;
/** Requests that may wait for the list at a time; one more is passed on to the server. */
const MAX_WAITING = 100;

/**
 * Answers `tools/list` from a list that bridge fetches once the handshake is complete, and tells the client of changes
 * that are some.
 *
 * It stands next to the server, behind the stages that translate: a list is kept in the server's own words, `ttlMs`
 * among them, and what leaves here becomes what each client's version needs, like an answer of the server's.
 */
export function cacheTools(options: CacheToolsOptions): Stage {
	return stage(out => new ToolsKeeper(options, out));
}

class ToolsKeeper implements Steps, Member {
	readonly #session: Session;
	readonly #cache: ToolsCache;
	readonly #out: Outlets;
	readonly #fetch: FetchTools;
	readonly #streams = new ToolsStreams();
	/** The list, once there is somebody to ask for it. */
	#tools: SharedTools | undefined;
	/** Requests of the client that wait for the list, by their keys. */
	readonly #waiting = new Map<string, Envelope>();
	/** The revision of the list that the client was told of. */
	#told: number | undefined;
	/** The key of the `initialize` that is on its way. */
	#greeting: string | undefined;
	/** Who said last what the client is told of. */
	#origin: Origin = local;
	#isOver = false;
	#done: (() => void) | undefined;

	constructor({session, cache, timeoutMs = 0}: CacheToolsOptions, out: Outlets) {
		this.#session = session;
		this.#cache = cache;
		this.#out = out;
		this.#fetch = new FetchTools({session, toUpstream: out.toUpstream, patienceMs: timeoutMs || PATIENCE_MS});
		// A server without handshake never hears that it is complete, nor does one that was told so elsewhere.
		session.whenReady(() => {
			if (session.upstream === MODERN || session.isResumed) this.#begin();
		});
	}

	readonly toUpstream = (envelope: Envelope, answer: Answer): Envelope | undefined => {
		switch (envelope.head.method) {
			case 'tools/list':
				return this.#asked(envelope, answer);
			case 'initialize':
				this.#greeting = envelope.head.key;
				return envelope;
			case 'notifications/initialized':
				this.#out.toUpstream(envelope);
				this.#begin();
				return;
			case 'notifications/cancelled':
				return this.#cancelled(envelope);
			case 'subscriptions/listen':
				if (envelope.head.key !== undefined) this.#streams.opened(envelope.head.key);
				return envelope;
			default:
				return envelope;
		}
	};

	readonly toClient = (envelope: Envelope): Envelope | undefined => {
		const {key, method} = envelope.head;
		if (method !== undefined) return this.#notified(envelope, method);
		if (key === undefined) return envelope;
		if (this.#fetch.answered(envelope, key)) return;
		this.#streams.ended(key);
		if (key !== this.#greeting) return envelope;
		this.#greeting = undefined;
		return change(envelope, body => changed(body, 'result', withNews));
	};

	readonly upstreamGone = (): void => this.#stop();
	readonly stopped = (): void => this.#stop();

	/** A client that says no more may still wait for what it asked. */
	readonly clientDone = (done: () => void): void => {
		this.#done = done;
		this.#letGo();
	};

	fetch(maxBytes: number, done: (outcome: ToolList | NoToolList) => void): void {
		this.#fetch.begin(maxBytes, done);
	}

	cached(revision: number): void {
		const {client, upstream, isResumed} = this.#session;
		// A client that began elsewhere was told of the list there.
		const isKnown = revision === this.#told || (isResumed && this.#told === undefined);
		this.#told = revision;
		if (isKnown) return;
		const isModern = client === MODERN && upstream === MODERN;
		const news = isModern ? this.#streams.news(this.#origin) : [plainNews(this.#origin)];
		for (const envelope of news) this.#out.toClient(envelope);
	}

	settled(result: string | undefined): boolean {
		const waiting = [...this.#waiting.values()];
		this.#waiting.clear();
		for (const request of waiting)
			if (result === undefined) this.#out.toUpstream(this.#missed(request));
			else this.#out.toClient(this.#reply(request, result));
		this.#letGo();
		return waiting.length > 0;
	}

	#begin(): void {
		const {upstream, initializeResult} = this.#session;
		const hasTools = isObject(objectOf(initializeResult?.capabilities).tools);
		if (this.#isOver || upstream === undefined || !hasTools) return;
		// A server that is initialized once more may be another.
		if (this.#tools) {
			this.#tools.invalidate(this);
			return;
		}
		this.#tools = this.#cache.at(upstream);
		this.#tools.join(this);
	}

	#asked(request: Envelope, answer: Answer): Envelope | undefined {
		const {key} = request.head;
		if (!this.#tools || key === undefined || hasCursor(request)) return request;
		// What a server would refuse is left to it.
		if (this.#session.upstream === MODERN && envelopeProblem(request.body.params)) return request;
		if (this.#waiting.size >= MAX_WAITING) return this.#missed(request);
		this.#waiting.set(key, request);
		const reading = this.#tools.read(this);
		if (reading === 'wait') return;
		this.#waiting.delete(key);
		if (reading === 'pass on') return this.#missed(request);
		answer(this.#reply(request, reading.result));
		return;
	}

	#missed(request: Envelope): Envelope {
		this.#cache.counts.misses++;
		return request;
	}

	/** The list under the id of a request, which has its result as text: it is not written anew each time. */
	#reply({head: {id = 'null'}, origin}: Envelope, result: string): Envelope {
		this.#cache.counts.hits++;
		return Envelope.answer(id, 'result', result, origin, text => String(text));
	}

	/** What waits here is not known to the server. */
	#cancelled(envelope: Envelope): Envelope | undefined {
		const key = canonicalId(memberText(envelope.bytes, 'params', 'requestId') ?? '""');
		this.#streams.ended(key);
		if (!this.#waiting.delete(key)) return envelope;
		this.#letGo();
		return;
	}

	#notified(envelope: Envelope, method: string): Envelope | undefined {
		if (method === 'notifications/subscriptions/acknowledged' && this.#session.client === MODERN)
			this.#streams.acknowledged(envelope);
		if (method !== LIST_CHANGED || !this.#tools) return envelope;
		this.#origin = envelope.origin;
		return this.#tools.invalidate(this) ? undefined : envelope;
	}

	/** All that the client said is on its way, and nothing of bridge's own follows it. */
	#letGo(): void {
		if (this.#done && this.#waiting.size === 0) this.#stop();
	}

	#stop(): void {
		const done = this.#done;
		this.#done = undefined;
		this.#isOver = true;
		this.#fetch.abandon();
		this.#tools?.leave(this);
		this.#tools = undefined;
		// Whoever still waits is answered by the stage that matches answers.
		this.#waiting.clear();
		done?.();
	}
}

/** Whether a request is for one page of several. */
function hasCursor({bytes}: Envelope): boolean {
	const cursor = memberText(bytes, 'params', 'cursor');
	return cursor !== undefined && cursor !== 'null';
}

const plainNews = (origin: Origin): Envelope =>
	Envelope.fromText(`{"jsonrpc":"2.0","method":"${LIST_CHANGED}"}`, origin);

/** What a server says of itself, and that its client will hear of other tools: from bridge, whatever the server does. */
const withNews = (result: unknown): unknown =>
	within(result, 'capabilities', capabilities =>
		within(capabilities, 'tools', tools => within(tools, 'listChanged', () => true)),
	);

const within = (value: unknown, name: string, change: (member: unknown) => unknown): unknown =>
	isObject(value) ? changed(value, name, change) : value;
