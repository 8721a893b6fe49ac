import {ToolsCache, type ToolsCacheOptions} from '../../lib/operators/cache-tools/tools-cache.js';
import {readableLog} from '../helpers/pipeline.js';
import {answerHandshake, envelope, lastOf} from '../helpers/version-stages.js';
import {wrapped} from '../helpers/wrapped.js';
import {STATELESS, takeReceived} from './stateless-support.js';

type Json = {readonly [key: string]: unknown};

export const tool = (name: string, more: Json = {}): Json => ({
	name,
	inputSchema: {type: 'object'},
	...more,
});

/** A cache with a readable log. */
export function newCache(options: Partial<ToolsCacheOptions> = {}) {
	const {log, entries} = readableLog();
	const cache = new ToolsCache({upstream: 'files', log, ...options});
	const logged = async (name: string) => (await entries()).filter(({event}) => event === name);
	return {cache, logged};
}

export type ConnectOptions = {
	readonly cache?: ToolsCache;
	readonly client?: string;
	readonly server?: string;
	readonly capabilities?: Json;
};

/** Connects an initialized client and upstream through the cache. The first fetch is pending. */
export function connect(options: ConnectOptions = {}) {
	const {client = '2025-11-25', server = '2025-11-25', capabilities = {tools: {}}} = options;
	const pair = wrapped({cacheTools: options.cache ?? newCache().cache});
	if (client === STATELESS)
		pair.client.send({id: 'pre', method: 'server/discover', params: {_meta: envelope()}});
	else pair.initialize(client);
	answerHandshake(pair as unknown as Parameters<typeof answerHandshake>[0], server, capabilities);
	if (client !== STATELESS) pair.initialized();
	/** The tools/list requests that the upstream received, of the client and of bridge. */
	const listRequests = () => (pair.upstream.received as Json[]).filter(({method}) => method === 'tools/list');
	/** Responds to the last one. */
	const respond = (result: Json): void => pair.upstream.send({id: listRequests().at(-1)?.id, result});
	const fail = (): void =>
		pair.upstream.send({id: listRequests().at(-1)?.id, error: {code: -32603, message: 'no database'}});
	const notifyChange = (): void => pair.upstream.send({method: 'notifications/tools/list_changed'});
	const request = (id: unknown, params: Json = {}): void => {
		const meta = client === STATELESS ? {_meta: envelope()} : {};
		pair.client.send({id, method: 'tools/list', params: {...params, ...meta}});
	};
	/** The response that the client received to a request. */
	const responseTo = (id: unknown): Json | undefined =>
		(pair.client.received as Json[]).find(message => message.id === id && !('method' in message));
	/** The number of list_changed notifications that the client received. */
	const notifications = (): number =>
		pair.client.received.filter(({method}) => method === 'notifications/tools/list_changed').length;
	return {...pair, listRequests, respond, fail, notifyChange, request, responseTo, notifications};
}

export {lastOf, STATELESS, takeReceived};
