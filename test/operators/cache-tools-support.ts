import {ToolsCache, type ToolsCacheOptions} from '../../lib/operators/cache-tools/tools-cache.js';
import {readableLog} from '../helpers/pipeline.js';
import {answerHandshake, envelope, lastOf} from '../helpers/version-stages.js';
import {wrapped} from '../helpers/wrapped.js';
import {MODERN, news} from './stateless-support.js';

type Json = {readonly [key: string]: unknown};

export const tool = (name: string, more: Json = {}): Json => ({
	name,
	inputSchema: {type: 'object'},
	...more,
});

/** A store with a log that can be read back. */
export function newCache(options: Partial<ToolsCacheOptions> = {}) {
	const {log, entries} = readableLog();
	const cache = new ToolsCache({upstream: 'files', log, ...options});
	const logged = async (name: string) => (await entries()).filter(({event}) => event === name);
	return {cache, logged};
}

export type CachingOptions = {
	readonly cache?: ToolsCache;
	readonly client?: string;
	readonly server?: string;
	readonly capabilities?: Json;
};

/** A client in front of a server whose tools are cached in between, both ready, and the server asked for its tools. */
export function caching(options: CachingOptions = {}) {
	const {client = '2025-11-25', server = '2025-11-25', capabilities = {tools: {}}} = options;
	const pair = wrapped({cacheTools: options.cache ?? newCache().cache});
	if (client === MODERN)
		pair.client.send({id: 'pre', method: 'server/discover', params: {_meta: envelope()}});
	else pair.initialize(client);
	answerHandshake(pair as unknown as Parameters<typeof answerHandshake>[0], server, capabilities);
	if (client !== MODERN) pair.initialized();
	/** The requests for tools that the server has heard, the client's and bridge's. */
	const lists = () => (pair.upstream.received as Json[]).filter(({method}) => method === 'tools/list');
	/** The server answers the last one. */
	const give = (result: Json): void => pair.upstream.send({id: lists().at(-1)?.id, result});
	const refuse = (): void =>
		pair.upstream.send({id: lists().at(-1)?.id, error: {code: -32603, message: 'no database'}});
	const change = (): void => pair.upstream.send({method: 'notifications/tools/list_changed'});
	const ask = (id: unknown, params: Json = {}): void => {
		const meta = client === MODERN ? {_meta: envelope()} : {};
		pair.client.send({id, method: 'tools/list', params: {...params, ...meta}});
	};
	/** What the client hears as the answer to a request. */
	const answer = (id: unknown): Json | undefined =>
		(pair.client.received as Json[]).find(message => message.id === id && !('method' in message));
	/** How often the client has been told that tools changed. */
	const told = (): number =>
		pair.client.received.filter(({method}) => method === 'notifications/tools/list_changed').length;
	return {...pair, lists, give, refuse, change, ask, answer, told};
}

export {lastOf, MODERN, news};
