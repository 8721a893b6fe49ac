import {BoundedMap} from '../util/bounded-map.js';

/** The name of the hub among services. No service can have this name. */
export const ALL_SERVICES = 'all servers';

export type RequestTarget =
	| {readonly kind: 'mcp' | 'sse' | 'message'; readonly service: string; readonly query: URLSearchParams}
	| {
			readonly kind:
				| 'first'
				| 'logout'
				| 'traffic'
				| 'status'
				| 'healthz'
				| 'readyz'
				| 'metrics'
				| 'view'
				| 'none';
	  };

const servicePattern = /^\/mcp\/([a-z0-9][a-z0-9_-]{0,63})(?:\/(sse|message))?\/?$/;
/** Alternative paths, for clients that replace a path that does not end in `/mcp`. */
const aliasPattern = /^\/([a-z0-9][a-z0-9_-]{0,63})\/mcp(?:\/(sse|message))?\/?$/;
const pageKinds = {
	'/': 'first',
	'/logout': 'logout',
	'/traffic': 'traffic',
	'/status': 'status',
	'/healthz': 'healthz',
	'/readyz': 'readyz',
	'/metrics': 'metrics',
} as const;
/** First parts of paths that cannot be names of services. */
const reservedNames: readonly string[] = [
	'mcp',
	'sse',
	'message',
	'view',
	'logout',
	'traffic',
	'status',
	'healthz',
	'readyz',
	'metrics',
];
const pageKindByPath = new Map<string, (typeof pageKinds)[keyof typeof pageKinds]>(
	Object.entries(pageKinds) as never,
);
const emptyQuery = new URLSearchParams();

const MAX_CACHED_LENGTH = 100;

/** Parsed targets, since most requests repeat one. The oldest is evicted. */
const targetCache = new BoundedMap<string, RequestTarget>(256);

/** Splits a request target into path and query, without decoding. Never throws, unlike `new URL`. */
export function splitTarget(url: string): {readonly path: string; readonly query: URLSearchParams} {
	const at = url.indexOf('?');
	if (at === -1) return {path: url, query: emptyQuery};
	return {path: url.slice(0, at), query: new URLSearchParams(url.slice(at + 1))};
}

/** Parses a request target. Names are not decoded, so that percent-encoding cannot hide one. */
export function parseTarget(url: string, isService: (name: string) => boolean = () => true): RequestTarget {
	const target = cachedTarget(url);
	if (target.kind !== 'mcp' || (target.service !== 'sse' && target.service !== 'message')) return target;
	// Unless a service has this name, the path is the HTTP+SSE endpoint of the hub.
	return isService(target.service) ? target : {...target, kind: target.service, service: ALL_SERVICES};
}

function cachedTarget(url: string): RequestTarget {
	const found = targetCache.get(url);
	if (found) return found;
	const target = parseUncached(url);
	// Long targets, and those with a query, which contains a session id, are rarely repeated.
	if (url.length < MAX_CACHED_LENGTH && !url.includes('?')) targetCache.set(url, target);
	return target;
}

function parseUncached(url: string): RequestTarget {
	const {path, query} = splitTarget(url);
	const [, name, part] = servicePattern.exec(path) ?? matchAlias(path) ?? [];
	if (path.startsWith('/view/')) return {kind: 'view'};
	if (name === undefined && path !== '/mcp' && path !== '/mcp/')
		return {kind: pageKindByPath.get(path) ?? 'none'};
	if (name === undefined) return {kind: 'mcp', service: ALL_SERVICES, query};
	return {kind: part === 'sse' || part === 'message' ? part : 'mcp', service: name, query};
}

function matchAlias(path: string): RegExpExecArray | undefined {
	const found = aliasPattern.exec(path);
	return found && !reservedNames.includes(found[1] ?? '') ? found : undefined;
}

/** Whether a request target is an MCP endpoint, of a configured service or not. */
export const isMcpTarget = (url: string): boolean =>
	url.startsWith('/mcp') || matchAlias(url.split('?', 1)[0] ?? '') !== undefined;
