import {BoundedMap} from '../bounded-map.js';
import {Envelope} from '../envelope.js';
import type {JsonObject} from '../protocol/json.js';
import type {Session} from '../protocol/session.js';
import {NoToolList, type ToolList, ToolPages} from '../protocol/tool-list.js';
import {withEnvelope} from '../protocol/v2026-07-28.js';
import {MODERN} from '../protocol/version.js';
import type {Answer} from '../stage.js';

export type FetchToolsOptions = {
	readonly session: Session;
	readonly toUpstream: Answer;
	/** How long the server may take for a page. */
	readonly patienceMs: number;
};

/** Requests without an answer that are remembered although nobody waits for it, so that it goes no further. */
const MAX_ABANDONED = 100;

type Done = (outcome: ToolList | NoToolList) => void;

/** A list that is being read: the pages so far, and the request for the next. */
type Fetch = {
	readonly pages: ToolPages;
	readonly done: Done;
	readonly id: string;
	readonly timer: NodeJS.Timeout;
};

/** Asks a server for all its tools, page after page, in the words of its own version. */
export class FetchTools {
	readonly #options: FetchToolsOptions;
	readonly #abandoned = new BoundedMap<string, true>(MAX_ABANDONED);
	#fetch: Fetch | undefined;

	constructor(options: FetchToolsOptions) {
		this.#options = options;
	}

	begin(maxBytes: number, done: Done): void {
		this.#ask(new ToolPages(maxBytes), done);
	}

	#ask(pages: ToolPages, done: Done, cursor?: string): void {
		const {session, toUpstream, patienceMs} = this.#options;
		const id = session.ownId();
		const timer = setTimeout(() => this.#giveUp(), patienceMs).unref();
		this.#fetch = {pages, done, id, timer};
		const params = this.#enveloped(cursor === undefined ? {} : {cursor});
		toUpstream(Envelope.of({jsonrpc: '2.0', id, method: 'tools/list', params}));
	}

	#enveloped(params: JsonObject): JsonObject {
		const {upstream, clientInfo: info, clientCapabilities: capabilities} = this.#options.session;
		return upstream === MODERN ? withEnvelope(params, {info, capabilities}) : params;
	}

	#giveUp(): void {
		const {toUpstream, patienceMs} = this.#options;
		const fetch = this.#fetch;
		if (!fetch) return;
		const {id: requestId, done} = fetch;
		const reason = `no answer within ${patienceMs / 1000} s`;
		this.abandon();
		const params = {requestId, reason};
		toUpstream(Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params}));
		done(new NoToolList(`gave ${reason}`));
	}

	/** Whether something is an answer to what was asked here, and for nobody else. */
	answered(answer: Envelope, key: string): boolean {
		const fetch = this.#fetch;
		if (!fetch || key !== JSON.stringify(fetch.id)) return this.#abandoned.take(key) ?? false;
		clearTimeout(fetch.timer);
		this.#fetch = undefined;
		this.#read(answer, fetch);
		return true;
	}

	#read({line}: Envelope, {pages, done}: Fetch): void {
		try {
			const cursor = pages.add(line.toString());
			if (cursor === undefined) done(pages.list());
			else this.#ask(pages, done, cursor);
		} catch (error) {
			if (!(error instanceof NoToolList)) throw error;
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
