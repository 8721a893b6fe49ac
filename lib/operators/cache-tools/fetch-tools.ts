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
	/** How long the server may take for a page. */
	readonly timeoutMs: number;
};

/** Requests without an answer that are remembered although nobody waits for it, so that it goes no further. */
const MAX_ABANDONED = 100;

type FetchDone = (outcome: ToolList | ToolListError) => void;

/** A list that is being read: the pages so far, and the request for the next. */
type Fetch = {
	readonly pages: ToolPages;
	readonly done: FetchDone;
	readonly id: string;
	readonly timer: NodeJS.Timeout;
};

/** Asks a server for all its tools, page after page, in the words of its own version. */
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
		const reason = `no answer within ${timeoutMs / 1000} s`;
		this.abandon();
		const params = {requestId, reason};
		toUpstream(Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params}));
		done(new ToolListError(`gave ${reason}`));
	}

	/** Whether something is an answer to what was asked here, and for nobody else. */
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

	/** Nobody wants to know any more. */
	abandon(): void {
		if (!this.#fetch) return;
		clearTimeout(this.#fetch.timer);
		this.#abandoned.set(JSON.stringify(this.#fetch.id), true);
		this.#fetch = undefined;
	}
}
