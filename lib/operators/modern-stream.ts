import {Envelope} from '../envelope.js';
import {type JsonObject, listOf, objectOf} from '../protocol/json.js';
import type {Session} from '../protocol/session.js';
import {SUBSCRIPTION_ID} from '../protocol/v2026-07-28.js';
import type {Outlets} from '../stage.js';

/** Resources that a client may be subscribed to at a time. */
const MAX_URIS = 10_000;

type Reply = (member: 'result' | 'error', value: JsonObject) => undefined;

/** A request to subscribe, or to no longer be, that is answered when the server has taken note. */
type Waiting = {readonly uri: string; readonly reply: Reply};

/** The one stream of notifications that a modern server sends for a handshake client, opened anew when it is to carry more. */
export class ListenStream {
	readonly #session: Session;
	readonly #out: Outlets;
	readonly #enveloped: (params: JsonObject) => JsonObject;
	readonly #uris = new Set<string>();
	#lists: JsonObject = {};
	/** The keys of the request that is acknowledged and of the one that is not yet. */
	#current: string | undefined;
	#next: string | undefined;
	#waiting: Waiting[] = [];

	constructor(session: Session, out: Outlets, enveloped: (params: JsonObject) => JsonObject) {
		this.#session = session;
		this.#out = out;
		this.#enveloped = enveloped;
	}

	/** What the server has to tell of. */
	offer({tools, prompts, resources}: JsonObject): void {
		const changing = {toolsListChanged: tools, promptsListChanged: prompts, resourcesListChanged: resources};
		const offered = Object.entries(changing).filter(
			([, capability]) => objectOf(capability).listChanged === true,
		);
		this.#lists = Object.fromEntries(offered.map(([name]) => [name, true]));
	}

	/** Opens the stream with all that is wanted by now. The one before it is closed when this one stands. */
	open(): void {
		const resources = this.#uris.size > 0 ? {resourceSubscriptions: [...this.#uris]} : {};
		const notifications = {...this.#lists, ...resources};
		if (Object.keys(notifications).length === 0) {
			this.#close();
			return;
		}
		const id = this.#session.ownId();
		if (this.#next !== undefined) this.#cancel(this.#next);
		this.#next = JSON.stringify(id);
		const params = this.#enveloped({notifications});
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id, method: 'subscriptions/listen', params}));
	}

	add(uri: string, reply: Reply): undefined {
		if (this.#uris.size >= MAX_URIS)
			return reply('error', {code: -32602, message: `Invalid params: more than ${MAX_URIS} subscriptions`});
		this.#uris.add(uri);
		this.#waiting.push({uri, reply});
		this.open();
	}

	remove(uri: string, reply: Reply): undefined {
		if (this.#uris.delete(uri)) this.open();
		return reply('result', {});
	}

	/** The server tells what it will tell of. */
	acknowledged({_meta, notifications}: JsonObject): void {
		const key = JSON.stringify(objectOf(_meta)[SUBSCRIPTION_ID]);
		if (key !== this.#next) return;
		if (this.#current !== undefined) this.#cancel(this.#current);
		this.#current = key;
		this.#next = undefined;
		const granted = listOf(objectOf(notifications).resourceSubscriptions);
		for (const {uri, reply} of this.#waiting.splice(0)) {
			if (granted.includes(uri)) reply('result', {});
			else {
				this.#uris.delete(uri);
				reply('error', {code: -32602, message: `Invalid params: the server has no updates of ${uri}`});
			}
		}
	}

	/** Whether an answer is the end of a stream. What waited for it is refused. */
	ended(key: string): boolean {
		if (key !== this.#current && key !== this.#next) return false;
		if (key === this.#current) this.#current = undefined;
		else this.#next = undefined;
		for (const {uri, reply} of this.#waiting.splice(0)) {
			this.#uris.delete(uri);
			reply('error', {code: -32602, message: `Invalid params: the server has no updates of ${uri}`});
		}
		return true;
	}

	#close(): void {
		if (this.#current !== undefined) this.#cancel(this.#current);
		this.#current = undefined;
	}

	#cancel(key: string): void {
		const params = {requestId: JSON.parse(key)};
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params}));
	}
}
