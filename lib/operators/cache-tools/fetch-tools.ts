import {Envelope} from '../../core/envelope.js';
import type {Emit} from '../../core/stage.js';
import type {Negotiation} from '../../protocol/negotiation.js';
import {type ToolList, ToolListError, ToolPages} from '../../protocol/tool-list.js';
import {withRequestMeta} from '../../protocol/v2026-07-28.js';
import {STATELESS} from '../../protocol/version.js';
import {BoundedMap} from '../../util/bounded-map.js';
import type {JsonObject} from '../../util/json.js';

type FetchToolsOptions = {
	readonly negotiation: Negotiation;
	readonly toUpstream: Emit;
	/** Time limit for one page. */
	readonly timeoutMs: number;
};

/** Abandoned request ids that may still get a late response, which must not reach the client. */
const MAX_ABANDONED = 100;

type FetchDone = (outcome: ToolList | ToolListError) => void;

/** A fetch in progress: the pages so far and the pending request for the next one. */
type Fetch = {
	readonly pages: ToolPages;
	readonly done: FetchDone;
	readonly id: string;
	readonly timer: NodeJS.Timeout;
};

/** Requests all tools of an upstream, page by page, in the protocol version of the upstream. */
export class ToolsFetcher {
	readonly #options: FetchToolsOptions;
	readonly #abandoned = new BoundedMap<string, true>(MAX_ABANDONED);
	#fetch: Fetch | undefined;

	constructor(options: FetchToolsOptions) {
		this.#options = options;
	}

	begin(maxBytes: number, done: FetchDone): void {
		this.#request(new ToolPages(maxBytes), done);
	}

	#request(pages: ToolPages, done: FetchDone, cursor?: string): void {
		const {negotiation, toUpstream, timeoutMs} = this.#options;
		const id = negotiation.nextRequestId();
		const timer = setTimeout(() => this.#timeOut(), timeoutMs).unref();
		this.#fetch = {pages, done, id, timer};
		const params = this.#withMeta(cursor === undefined ? {} : {cursor});
		toUpstream(Envelope.of({jsonrpc: '2.0', id, method: 'tools/list', params}));
	}

	#withMeta(params: JsonObject): JsonObject {
		const {
			upstreamVersion: upstream,
			clientInfo: info,
			clientCapabilities: capabilities,
		} = this.#options.negotiation;
		return upstream === STATELESS ? withRequestMeta(params, {info, capabilities}) : params;
	}

	#timeOut(): void {
		const {toUpstream, timeoutMs} = this.#options;
		const fetch = this.#fetch;
		if (!fetch) return;
		const {id: requestId, done} = fetch;
		const reason = `no response within ${timeoutMs / 1000} s`;
		this.abandon();
		const params = {requestId, reason};
		toUpstream(Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params}));
		done(new ToolListError(`sent ${reason}`));
	}

	/** Returns whether a response belongs to a request of this fetcher, abandoned ones included. */
	handleResponse(response: Envelope, key: string): boolean {
		const fetch = this.#fetch;
		if (!fetch || key !== JSON.stringify(fetch.id)) return this.#abandoned.take(key) ?? false;
		clearTimeout(fetch.timer);
		this.#fetch = undefined;
		this.#readPage(response, fetch);
		return true;
	}

	#readPage({line}: Envelope, {pages, done}: Fetch): void {
		try {
			const cursor = pages.add(line.toString());
			if (cursor === undefined) done(pages.toList());
			else this.#request(pages, done, cursor);
		} catch (error) {
			if (!(error instanceof ToolListError)) throw error;
			done(error);
		}
	}

	/** Gives up the fetch without a callback. Its late response is ignored. */
	abandon(): void {
		if (!this.#fetch) return;
		clearTimeout(this.#fetch.timer);
		this.#abandoned.set(JSON.stringify(this.#fetch.id), true);
		this.#fetch = undefined;
	}
}
