import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {isDeepStrictEqual} from 'node:util';
import test, {type ExecutionContext} from 'ava';
import {type Roamer, roam, startReplicas} from '../e2e/replicas/support.js';
import {freePort} from '../helpers/free-port.js';
import {
	type Answer,
	type GatewayOptions,
	messageIn,
	program,
	type RunningGateway,
} from '../helpers/gateway.js';
import {logged, until} from '../helpers/program.js';
import {tempFolder} from '../helpers/temp-folder.js';
import {becomes} from './balanced.js';
import {cli, type RunningRedis, startRedis, userOfDocs} from './redis.js';
import {need, run} from './tools.js';

const LIMIT = 12;
const USER = 'bridge:planted-password';

/** Starts two replicas with this store, and waits until both are connected to it. */
async function replicasOf(
	t: ExecutionContext,
	store: string,
	options?: GatewayOptions,
): Promise<[RunningGateway, RunningGateway]> {
	const servers = {puppet: program('puppet')};
	const [one, two] = await startReplicas(t, 2, {servers, store, limits: {rate: `${LIMIT}/h`}}, options);
	if (!one || !two) throw new Error('There are two.');
	for (const gateway of [one, two]) await becomes(gateway, 'ready');
	return [one, two];
}

const pid = {id: 1, method: 'pid'};

/**
 * Opens a session at one replica. Returns its client if the other replica finds the session without its
 * id.
 */
async function clientKnownToBoth(
	[one, two]: [RunningGateway, RunningGateway],
	headers: {readonly [name: string]: string},
): Promise<Roamer | undefined> {
	const client = await roam(one, 'puppet', headers);
	const {result} = await client.ask(one, 'pid');
	const {result: same} = messageIn(await two.post('puppet', pid, headers));
	return isDeepStrictEqual(result, same) ? client : undefined;
}

/**
 * Retries with new clients: on a busy machine, a replica may consider the store too slow and continue
 * without it.
 */
async function withRetries<T>(
	t: ExecutionContext,
	attempt: (headers: {readonly [name: string]: string}) => Promise<T | undefined>,
): Promise<T> {
	for (let tries = 1; ; tries++) {
		const found = await attempt({authorization: `Bearer ${tries}`});
		if (found !== undefined) return found;
		t.true(tries < 5);
	}
}

/**
 * Checks that another replica finds a session without its id, and that both count its requests together.
 */
async function isShared(t: ExecutionContext, replicas: [RunningGateway, RunningGateway]): Promise<void> {
	const [one, two] = replicas;
	/** The rejection of a request above the limit. */
	const rejected = await withRetries(t, async headers => {
		const client = await clientKnownToBoth(replicas, headers);
		// Four requests were made before.
		const replies: Answer[] = [];
		for (let at = 0; client && at < LIMIT; at++)
			replies.push(await client.post(at % 2 === 0 ? one : two, {id: at, method: 'pid'}));
		const expected = [...Array(LIMIT - 4).fill(200), 429, 429, 429, 429];
		return isDeepStrictEqual(
			replies.map(({status}) => status),
			expected,
		)
			? replies.at(-1)
			: undefined;
	});
	t.true(Number(rejected.headers.get('retry-after')) > 3000);
	t.like(JSON.parse(rejected.text), {error: {code: -31003, data: {kind: 'overloaded'}}});
	// Other clients are not limited.
	t.is((await two.post('puppet', pid, {authorization: 'Bearer b'})).status, 400);
}

test.serial(
	'one Redis server shares rate limits and the sessions of clients without an id; limits are local while it is down [M4] [M7]',
	async t => {
		const redis = await startRedis(t);
		const replicas = await replicasOf(t, `redis://127.0.0.1:${redis.port}`);
		await isShared(t, replicas);
		await redis.kill();
		const [one] = replicas;
		await becomes(one, 'degraded');
		const other = {authorization: 'Bearer c'};
		const statuses: number[] = [];
		for (let at = 0; at <= LIMIT; at++)
			statuses.push((await one.post('puppet', {id: at, method: 'pid'}, other)).status);
		t.deepEqual(statuses, [...Array(LIMIT).fill(400), 429]);
	},
);

test.serial('treats a store that rejects writes as down, and logs the reason [M4]', async t => {
	const redis = await startRedis(t, userOfDocs());
	const [one] = await replicasOf(t, `redis://${USER}@127.0.0.1:${redis.port}`);
	const unusedPort = `${await freePort()}`;
	for (const [reason, deny, allow] of [
		['OOM', 'CONFIG SET maxmemory 1', 'CONFIG SET maxmemory 0'],
		['READONLY', `REPLICAOF 127.0.0.1 ${unusedPort}`, 'REPLICAOF NO ONE'],
		['NOPERM', 'ACL SETUSER bridge -set', 'ACL SETUSER bridge +set'],
	] as const) {
		t.is(await redis.cli(deny.split(' ')), 'OK');
		await becomes(one, 'degraded');
		const down = logged(one.running, 'store.down');
		t.like(down.at(-1), {reason});
		t.regex(String(down.at(-1)?.msg), new RegExp(`rejects commands \\(${reason}\\)`));
		const client = await roam(one, 'puppet', {authorization: `Bearer ${reason}`});
		t.truthy((await client.ask(one, 'pid')).result);
		t.is(await redis.cli(allow.split(' ')), 'OK');
		await becomes(one, 'ready');
		t.is(logged(one.running, 'store.down').length, down.length);
		t.is(logged(one.running, 'store.up').length, down.length);
	}
	t.deepEqual(logged(one.running, 'store.forbidden'), []);
	// A forbidden command does not disable the others.
	await redis.cli(['ACL', 'SETUSER', 'bridge', '-eval']);
	await until(() => logged(one.running, 'store.forbidden').some(({command}) => command === 'eval'));
	await becomes(one, 'ready');
});

/** Creates a key and a self-signed certificate for this machine. */
function newCertificate(t: ExecutionContext): Certificate {
	need('openssl');
	const folder = tempFolder(t);
	const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
	run(
		'openssl',
		...'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost'.split(
			' ',
		),
		'-addext',
		'subjectAltName=IP:127.0.0.1',
		'-keyout',
		key,
		'-out',
		certificate,
	);
	return {key, certificate};
}

type Certificate = {readonly key: string; readonly certificate: string};

/** The settings that enable TLS on a port of Redis or Sentinel. */
const tlsOptions = (port: number, {key, certificate}: Certificate): ReadonlyArray<[string, string]> => [
	['tls-port', `${port}`],
	['tls-cert-file', certificate],
	['tls-key-file', key],
	['tls-ca-cert-file', certificate],
	['tls-auth-clients', 'no'],
];

const tlsFlags = (port: number, files: Certificate): string[] =>
	tlsOptions(port, files).flatMap(([name, value]) => [`--${name}`, value]);

test.serial('connects to rediss:// with a certificate of a private authority [M7]', async t => {
	const files = newCertificate(t);
	const port = await freePort();
	await startRedis(t, tlsFlags(port, files));
	const env = {...process.env, NODE_EXTRA_CA_CERTS: files.certificate};
	await isShared(t, await replicasOf(t, `rediss://127.0.0.1:${port}`, {env}));
});

test.serial('?sentinel=NAME connects to the master, and to the new one after a failover [M4]', async t => {
	const first = await startRedis(t, userOfDocs());
	const second = await startRedis(t, [...userOfDocs(), '--replicaof', '127.0.0.1', `${first.port}`]);
	while (!/master_link_status:up/.test(await second.cli(['INFO', 'replication']))) await sleep(50);
	const port = await freePort();
	startSentinel(t, first.port, [`port ${port}`]);
	while (!/slaves=1/.test(await cli(port, ['INFO', 'sentinel']))) await sleep(50);
	const replicas = await replicasOf(t, `redis://${USER}@127.0.0.1:${port}?sentinel=shared`);
	await first.kill();
	for (const {running} of replicas) await running.says(/store\.down/);
	for (const gateway of replicas) await becomes(gateway, 'ready');
	await withRetries(t, headers => clientKnownToBoth(replicas, headers));
	t.regex(await second.cli(['KEYS', 'bridge:last:*']), /^bridge:last:/);
	t.is(await second.cli(['ACL', 'LOG']), '');
});

test.serial(
	'rediss://…?sentinel=NAME&sentinel-user=… uses TLS and separate credentials for Sentinels [M4] [M7]',
	async t => {
		const files = newCertificate(t);
		const [port, sentinelPort] = [await freePort(), await freePort()];
		await startRedis(t, [...userOfDocs(), ...tlsFlags(port, files)]);
		const plainPort = await freePort();
		startSentinel(t, port, [
			`port ${plainPort}`,
			...tlsOptions(sentinelPort, files).map(option => option.join(' ')),
			'tls-replication yes',
			'user guard on >planted-sentinel &* -@all +auth +hello +sentinel +subscribe',
			'user default on nopass -@all +info',
		]);
		while (!/status=ok/.test(await cli(plainPort, ['INFO', 'sentinel']))) await sleep(50);
		const env = {...process.env, NODE_EXTRA_CA_CERTS: files.certificate};
		const login = 'sentinel-user=guard&sentinel-password=planted-sentinel';
		const store = `rediss://${USER}@127.0.0.1:${sentinelPort}?sentinel=shared&${login}`;
		await isShared(t, await replicasOf(t, store, {env}));
	},
);

test.serial('?cluster distributes the keys over three masters [M7]', async t => {
	const nodes: RunningRedis[] = [];
	for (let at = 0; at < 3; at++)
		nodes.push(
			await startRedis(t, [
				'--cluster-enabled',
				'yes',
				'--cluster-port',
				`${await freePort()}`,
				...userOfDocs('+cluster|slots', '+cluster|info', '+client|setname'),
			]),
		);
	const [first] = nodes;
	const addresses = nodes.map(({port}) => `127.0.0.1:${port}`);
	run('redis-cli', '--cluster', 'create', ...addresses, '--cluster-yes');
	for (const node of nodes)
		while (!/cluster_state:ok/.test(await node.cli(['CLUSTER', 'INFO']))) await sleep(50);
	const store = `redis://${USER}@127.0.0.1:${first?.port}?cluster&node=${addresses[1]}`;
	const replicas = await replicasOf(t, store);
	await isShared(t, replicas);
	const keys = await Promise.all(nodes.map(node => node.cli(['KEYS', 'bridge:*'])));
	t.true(keys.filter(text => text !== '').length > 1);
	for (const node of nodes) t.is(await node.cli(['ACL', 'LOG']), '');
	const kinds = ['owner:', 'fence', 'last:', 'rate:'];
	for (const kind of kinds) t.true(keys.join('\n').includes(`bridge:${kind}`), kind);
});

/** Starts a Sentinel that monitors the server on a port. */
function startSentinel(t: ExecutionContext, watched: number, options: readonly string[]): void {
	const file = join(tempFolder(t), 'sentinel.conf');
	const lines = [
		'bind 127.0.0.1',
		`sentinel monitor shared 127.0.0.1 ${watched} 1`,
		'sentinel down-after-milliseconds shared 3000',
		...options,
	];
	writeFileSync(file, `${lines.join('\n')}\n`);
	const sentinel = spawn('redis-server', [file, '--sentinel'], {stdio: 'ignore'});
	t.teardown(async () => {
		sentinel.kill('SIGKILL');
		await once(sentinel, 'close');
	});
}
