import {editMessage} from '../core/edit-message.js';
import {bridgeOrigin, Envelope, type MessageOrigin} from '../core/envelope.js';
import {type Emit, type Stage, type StageOutputs, type StageSteps, stage} from '../core/stage.js';
import type {Negotiation} from '../protocol/negotiation.js';
import type {ToolList, ToolListError} from '../protocol/tool-list.js';
import {requestMetaError} from '../protocol/v2026-07-28.js';
import {STATELESS} from '../protocol/version.js';
import {isObject, mapMember, objectOf} from '../util/json.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';
import {ToolsFetcher} from './cache-tools/fetch-tools.js';
import {ListChangedStreams, TOOLS_LIST_CHANGED} from './cache-tools/list-changed-streams.js';
import type {SharedToolList, ToolListConsumer} from './cache-tools/shared-tool-list.js';
import type {ToolsCache} from './cache-tools/tools-cache.js';

export type CacheToolsOptions = {
	readonly negotiation: Negotiation;
	/** Where the list is kept, which conversations may share that may see each other's tools. */
	readonly cache: ToolsCache;
	/** How long the server may take for a page of a list that is to be cached; 0 for the default. */
	readonly timeoutMs?: number;
};

/** Nobody waits for ever for a list that nobody has asked for. */
const FETCH_TIMEOUT_MS = 60_000;
/** Requests that may wait for the list at a time; one more is passed on to the server. */
const MAX_QUEUED = 100;

/**
 * Answers `tools/list` from a list that bridge fetches once the handshake is complete, and tells the client of changes
 * that are some.
 *
 * It stands next to the server, behind the stages that translate: a list is kept in the server's own words, `ttlMs`
 * among them, and what leaves here becomes what each client's version needs, like an answer of the server's.
 */
export function cacheTools(options: CacheToolsOptions): Stage {
	return stage(out => new ToolsCacheStage(options, out));
}

class ToolsCacheStage implements StageSteps, ToolListConsumer {
	readonly #negotiation: Negotiation;
	readonly #cache: ToolsCache;
	readonly #out: StageOutputs;
	readonly #fetch: ToolsFetcher;
	readonly #streams = new ListChangedStreams();
	/** The list, once there is somebody to ask for it. */
	#tools: SharedToolList | undefined;
	/** Requests of the client that wait for the list, by their keys. */
	readonly #queued = new Map<string, Envelope>();
	/** The revision of the list that the client was told of. */
	#notifiedRevision: number | undefined;
	/** The key of the `initialize` that is on its way. */
	#initializeKey: string | undefined;
	/** Who said last what the client is told of. */
	#origin: MessageOrigin = bridgeOrigin;
	#isStopped = false;
	#onFlushed: (() => void) | undefined;

	constructor({negotiation, cache, timeoutMs = 0}: CacheToolsOptions, out: StageOutputs) {
		this.#negotiation = negotiation;
		this.#cache = cache;
		this.#out = out;
		this.#fetch = new ToolsFetcher({
			negotiation,
			toUpstream: out.toUpstream,
			timeoutMs: timeoutMs || FETCH_TIMEOUT_MS,
		});
		// A server without handshake never hears that it is complete, nor does one that was told so elsewhere.
		negotiation.whenReady(() => {
			if (negotiation.upstreamVersion === STATELESS || negotiation.isRestored) this.#join();
		});
	}

	readonly toUpstream = (envelope: Envelope, reply: Emit): Envelope | undefined => {
		switch (envelope.head.method) {
			case 'tools/list':
				return this.#listRequested(envelope, reply);
			case 'initialize':
				this.#initializeKey = envelope.head.key;
				return envelope;
			case 'notifications/initialized':
				this.#out.toUpstream(envelope);
				this.#join();
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
		if (this.#fetch.handleResponse(envelope, key)) return;
		this.#streams.ended(key);
		if (key !== this.#initializeKey) return envelope;
		this.#initializeKey = undefined;
		return editMessage(envelope, body => mapMember(body, 'result', withListChanged));
	};

	readonly upstreamClosed = (): void => this.#stop();
	readonly teardown = (): void => this.#stop();

	/** A client that says no more may still wait for what it asked. */
	readonly clientEnded = (done: () => void): void => {
		this.#onFlushed = done;
		this.#stopIfFlushed();
	};

	fetch(maxBytes: number, done: (outcome: ToolList | ToolListError) => void): void {
		this.#fetch.begin(maxBytes, done);
	}

	onRevision(revision: number): void {
		const {clientVersion: client, upstreamVersion: upstream, isRestored: isResumed} = this.#negotiation;
		// A client that began elsewhere was told of the list there.
		const isNotified =
			revision === this.#notifiedRevision || (isResumed && this.#notifiedRevision === undefined);
		this.#notifiedRevision = revision;
		if (isNotified) return;
		const isStateless = client === STATELESS && upstream === STATELESS;
		const notifications = isStateless
			? this.#streams.notifications(this.#origin)
			: [listChangedNotification(this.#origin)];
		for (const envelope of notifications) this.#out.toClient(envelope);
	}

	resolvePending(result: string | undefined): boolean {
		const queued = [...this.#queued.values()];
		this.#queued.clear();
		for (const request of queued)
			if (result === undefined) this.#out.toUpstream(this.#countMiss(request));
			else this.#out.toClient(this.#reply(request, result));
		this.#stopIfFlushed();
		return queued.length > 0;
	}

	#join(): void {
		const {upstreamVersion: upstream, initializeResult} = this.#negotiation;
		const hasTools = isObject(objectOf(initializeResult?.capabilities).tools);
		if (this.#isStopped || upstream === undefined || !hasTools) return;
		// A server that is initialized once more may be another.
		if (this.#tools) {
			this.#tools.invalidate(this);
			return;
		}
		this.#tools = this.#cache.forVersion(upstream);
		this.#tools.join(this);
	}

	#listRequested(request: Envelope, reply: Emit): Envelope | undefined {
		const {key} = request.head;
		if (!this.#tools || key === undefined || hasCursor(request)) return request;
		// What a server would refuse is left to it.
		if (this.#negotiation.upstreamVersion === STATELESS && requestMetaError(request.body.params))
			return request;
		if (this.#queued.size >= MAX_QUEUED) return this.#countMiss(request);
		this.#queued.set(key, request);
		const cacheRead = this.#tools.read(this);
		if (cacheRead === 'wait') return;
		this.#queued.delete(key);
		if (cacheRead === 'pass on') return this.#countMiss(request);
		reply(this.#reply(request, cacheRead.result));
		return;
	}

	#countMiss(request: Envelope): Envelope {
		this.#cache.counts.misses++;
		return request;
	}

	/** The list under the id of a request, which has its result as text: it is not written anew each time. */
	#reply({head: {id = 'null'}, origin}: Envelope, result: string): Envelope {
		this.#cache.counts.hits++;
		return Envelope.response(id, 'result', result, origin, text => String(text));
	}

	/** What waits here is not known to the server. */
	#cancelled(envelope: Envelope): Envelope | undefined {
		const key = canonicalId(memberText(envelope.bytes, 'params', 'requestId') ?? '""');
		this.#streams.ended(key);
		if (!this.#queued.delete(key)) return envelope;
		this.#stopIfFlushed();
		return;
	}

	#notified(envelope: Envelope, method: string): Envelope | undefined {
		if (
			method === 'notifications/subscriptions/acknowledged' &&
			this.#negotiation.clientVersion === STATELESS
		)
			this.#streams.acknowledged(envelope);
		if (method !== TOOLS_LIST_CHANGED || !this.#tools) return envelope;
		this.#origin = envelope.origin;
		return this.#tools.invalidate(this) ? undefined : envelope;
	}

	/** All that the client said is on its way, and nothing of bridge's own follows it. */
	#stopIfFlushed(): void {
		if (this.#onFlushed && this.#queued.size === 0) this.#stop();
	}

	#stop(): void {
		const done = this.#onFlushed;
		this.#onFlushed = undefined;
		this.#isStopped = true;
		this.#fetch.abandon();
		this.#tools?.leave(this);
		this.#tools = undefined;
		// Whoever still waits is answered by the stage that matches answers.
		this.#queued.clear();
		done?.();
	}
}

/** Whether a request is for one page of several. */
function hasCursor({bytes}: Envelope): boolean {
	const cursor = memberText(bytes, 'params', 'cursor');
	return cursor !== undefined && cursor !== 'null';
}

const listChangedNotification = (origin: MessageOrigin): Envelope =>
	Envelope.fromText(`{"jsonrpc":"2.0","method":"${TOOLS_LIST_CHANGED}"}`, origin);

/** What a server says of itself, and that its client will hear of other tools: from bridge, whatever the server does. */
const withListChanged = (result: unknown): unknown =>
	mapObjectMember(result, 'capabilities', capabilities =>
		mapObjectMember(capabilities, 'tools', tools => mapObjectMember(tools, 'listChanged', () => true)),
	);

const mapObjectMember = (value: unknown, name: string, change: (member: unknown) => unknown): unknown =>
	isObject(value) ? mapMember(value, name, change) : value;
