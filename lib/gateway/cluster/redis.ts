import type {Cluster, Redis, RedisOptions} from 'ioredis';

/** Limits how long a request waits for the store. */
const COMMAND_TIMEOUT_MS = 300;
const MAX_RETRY_DELAY_MS = 2000;

export type RedisConnection = Redis | Cluster;

type Options = Omit<RedisOptions, 'replyMapping'>;

/** Commands fail at once while the store is unreachable. None is queued. */
const commonOptions = {
	enableOfflineQueue: false,
	maxRetriesPerRequest: 1,
	commandTimeout: COMMAND_TIMEOUT_MS,
	connectTimeout: 2000,
	// The store's user then needs no permission for CLIENT SETINFO.
	disableClientInfo: true,
	retryStrategy: (times: number): number => Math.min(50 * 2 ** Math.min(times, 10), MAX_RETRY_DELAY_MS),
};

/**
 * Connects to the store at a URL: one server, a server found through Sentinels (`?sentinel=NAME`), or a
 * cluster (`?cluster`). `&node=HOST:PORT` adds further Sentinels or nodes.
 * `&sentinel-user=NAME&sentinel-password=TEXT` are the credentials for the Sentinels.
 */
export async function connectRedis(url: URL): Promise<RedisConnection> {
	const {default: ioredis} = await import('ioredis');
	const {searchParams: query} = url;
	const tls = url.protocol === 'rediss:' ? {tls: {}} : {};
	const login = withoutEmpty({
		username: decodeURIComponent(url.username),
		password: decodeURIComponent(url.password),
	});
	const nodes = [url.host, ...query.getAll('node')].map(parseNodeAddress);
	const db = Number(url.pathname.slice(1)) || 0;
	const name = query.get('sentinel');
	const common: Options = {...commonOptions, ...login, ...tls, db};
	if (query.has('cluster'))
		return new ioredis.Cluster(nodes, {
			redisOptions: {...login, ...tls, commandTimeout: COMMAND_TIMEOUT_MS, disableClientInfo: true},
			enableOfflineQueue: false,
			clusterRetryStrategy: commonOptions.retryStrategy,
		});
	if (name !== null)
		return new ioredis.Redis({...common, ...sentinelOptions(query, 'tls' in tls), name, sentinels: nodes});
	return new ioredis.Redis({...common, ...nodes[0]});
}

const sentinelOptions = (query: URLSearchParams, isSecure: boolean): Options => ({
	...withoutEmpty({
		sentinelUsername: query.get('sentinel-user') ?? '',
		sentinelPassword: query.get('sentinel-password') ?? '',
	}),
	...(isSecure ? {sentinelTLS: {}, enableTLSForSentinelMode: true} : {}),
});

const withoutEmpty = (options: {readonly [name: string]: string}): {readonly [name: string]: string} =>
	Object.fromEntries(Object.entries(options).filter(([, value]) => value !== ''));

const DEFAULT_PORT = 6379;

function parseNodeAddress(text: string): {readonly host: string; readonly port: number} {
	const {hostname, port} = new URL(`redis://${text}`);
	return {host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? DEFAULT_PORT : Number(port)};
}
