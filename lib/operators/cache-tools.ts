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
	/** The cached lists. Shared only by conversations that may see each other's tools. */
	readonly cache: ToolsCache;
	/** Time limit of the upstream for one page of the list, in ms; 0 for the default. */
	readonly timeoutMs?: number;
};

const FETCH_TIMEOUT_MS = 60_000;
/** Client requests that may be queued for the list. Further requests are forwarded to the upstream. */
const MAX_QUEUED = 100;

/**
 * Responds to `tools/list` from a list that bridge fetches after the handshake, and notifies the client when
 * the tools differ.
 *
 * The stage is next to the upstream, behind the translating stages. So the cache contains the upstream's own
 * results, including `ttlMs`, and a cached result is translated to the client's version like any response.
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
	/** The shared list. Undefined until the handshake is complete. */
	#tools: SharedToolList | undefined;
	readonly #queued = new Map<string, Envelope>();
	#notifiedRevision: number | undefined;
	#initializeKey: string | undefined;
	/** The sender of the last list_changed notification. */
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
		// A stateless upstream and a restored session never get notifications/initialized here.
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

	/** Delays the end of the client until its queued requests have a response. */
	readonly clientEnded = (done: () => void): void => {
		this.#onFlushed = done;
		this.#stopIfFlushed();
	};

	fetch(maxBytes: number, done: (outcome: ToolList | ToolListError) => void): void {
		this.#fetch.begin(maxBytes, done);
	}

	onRevision(revision: number): void {
		const {clientVersion: client, upstreamVersion: upstream, isRestored} = this.#negotiation;
		// The client of a restored session was notified by the replica that it came from.
		const isNotified =
			revision === this.#notifiedRevision || (isRestored && this.#notifiedRevision === undefined);
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
		// A re-initialized upstream may have other tools.
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
		// The upstream rejects an invalid envelope itself.
		if (this.#negotiation.upstreamVersion === STATELESS && requestMetaError(request.body.params))
			return request;
		if (this.#queued.size >= MAX_QUEUED) return this.#countMiss(request);
		this.#queued.set(key, request);
		const cacheRead = this.#tools.read(this);
		if (cacheRead === 'wait') return;
		this.#queued.delete(key);
		if (cacheRead === 'forward') return this.#countMiss(request);
		reply(this.#reply(request, cacheRead.result));
		return;
	}

	#countMiss(request: Envelope): Envelope {
		this.#cache.counts.misses++;
		return request;
	}

	/** The response with the cached result, which is serialized already. */
	#reply({head: {id = 'null'}, origin}: Envelope, result: string): Envelope {
		this.#cache.counts.hits++;
		return Envelope.response(id, 'result', result, origin, text => String(text));
	}

	/** Drops the cancellation of a queued request, which was never sent to the upstream. */
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

	/** Stops once the client has ended and no request is queued. */
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
		// The stage that matches responses fails requests that are still queued.
		this.#queued.clear();
		done?.();
	}
}

function hasCursor({bytes}: Envelope): boolean {
	const cursor = memberText(bytes, 'params', 'cursor');
	return cursor !== undefined && cursor !== 'null';
}

const listChangedNotification = (origin: MessageOrigin): Envelope =>
	Envelope.fromText(`{"jsonrpc":"2.0","method":"${TOOLS_LIST_CHANGED}"}`, origin);

/** The `initialize` result with `tools.listChanged`, because bridge sends these notifications itself. */
const withListChanged = (result: unknown): unknown =>
	mapObjectMember(result, 'capabilities', capabilities =>
		mapObjectMember(capabilities, 'tools', tools => mapObjectMember(tools, 'listChanged', () => true)),
	);

const mapObjectMember = (value: unknown, name: string, change: (member: unknown) => unknown): unknown =>
	isObject(value) ? mapMember(value, name, change) : value;
