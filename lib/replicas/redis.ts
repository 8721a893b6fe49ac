import type {Cluster, Redis, RedisOptions} from 'ioredis';

/** Longer than this, nobody waits for the store. */
export const PATIENCE_MS = 300;
const MAX_PAUSE_MS = 2000;

export type Connection = Redis | Cluster;

type Options = Omit<RedisOptions, 'replyMapping'>;

/** What is not there at once fails at once: nothing waits in a queue for a store to come back. */
const options = {
	enableOfflineQueue: false,
	maxRetriesPerRequest: 1,
	commandTimeout: PATIENCE_MS,
	connectTimeout: 2000,
	// One command less that a user of the store has to be allowed.
	disableClientInfo: true,
	retryStrategy: (times: number): number => Math.min(50 * 2 ** Math.min(times, 10), MAX_PAUSE_MS),
};

/**
 * Connects to the store behind a URL: one server, those that Sentinels know (`?sentinel=NAME`), or a cluster (`?cluster`).
 * Of the latter two, more than one can be named: `&node=HOST:PORT`. Sentinels may have a login of their own:
 * `&sentinel-user=NAME&sentinel-password=TEXT`.
 */
export async function connectTo(url: URL): Promise<Connection> {
	const {default: ioredis} = await import('ioredis');
	const {searchParams: query} = url;
	const tls = url.protocol === 'rediss:' ? {tls: {}} : {};
	const login = present({
		username: decodeURIComponent(url.username),
		password: decodeURIComponent(url.password),
	});
	const nodes = [url.host, ...query.getAll('node')].map(addressOf);
	const db = Number(url.pathname.slice(1)) || 0;
	const name = query.get('sentinel');
	const common: Options = {...options, ...login, ...tls, db};
	if (query.has('cluster'))
		return new ioredis.Cluster(nodes, {
			redisOptions: {...login, ...tls, commandTimeout: PATIENCE_MS, disableClientInfo: true},
			enableOfflineQueue: false,
			clusterRetryStrategy: options.retryStrategy,
		});
	if (name !== null)
		return new ioredis.Redis({...common, ...guardedBy(query, 'tls' in tls), name, sentinels: nodes});
	return new ioredis.Redis({...common, ...nodes[0]});
}

/** How Sentinels are asked. */
const guardedBy = (query: URLSearchParams, isSecure: boolean): Options => ({
	...present({
		sentinelUsername: query.get('sentinel-user') ?? '',
		sentinelPassword: query.get('sentinel-password') ?? '',
	}),
	...(isSecure ? {sentinelTLS: {}, enableTLSForSentinelMode: true} : {}),
});

const present = (named: {readonly [name: string]: string}): {readonly [name: string]: string} =>
	Object.fromEntries(Object.entries(named).filter(([, value]) => value !== ''));

const PORT = 6379;

function addressOf(text: string): {readonly host: string; readonly port: number} {
	const {hostname, port} = new URL(`redis://${text}`);
	return {host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? PORT : Number(port)};
}
