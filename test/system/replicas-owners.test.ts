import {setTimeout as sleep} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {type Roamer, roam, startReplica, startReplicas} from '../e2e/replicas/support.js';
import {alter} from '../helpers/change.js';
import {program, type RunningGateway} from '../helpers/gateway.js';
import {becomes} from './balanced.js';
import {type RunningRedis, startRedis} from './redis.js';

/** The numbers of the current leases, with 0 for each that was claimed by another replica. */
async function leasesIn(redis: RunningRedis): Promise<string[]> {
	const keys = (await redis.cli(['KEYS', 'bridge:owner:*'])).split('\n');
	return (await Promise.all(keys.map(key => redis.cli(['GET', key])))).sort();
}

const [OLD, NEW] = ['an old secret of some length', 'a new secret of some length'];

test.serial(
	'a replica paused beyond its lease loses claimed sessions and keeps unclaimed ones [M6]',
	async t => {
		const redis = await startRedis(t);
		const store = `redis://127.0.0.1:${redis.port}`;
		const replicas = await startReplicas(t, 3, {servers: {puppet: program('puppet')}, store});
		const [one, two, three] = replicas;
		if (!one || !two || !three) throw new Error('There are three.');
		for (const gateway of replicas) await becomes(gateway, 'ready');
		const leases = () => leasesIn(redis);
		while ((await leases()).join() !== '1,2,3') await sleep(50);
		const lost = await roam(one, 'puppet');
		const kept = await roam(three, 'puppet');
		t.truthy((await lost.ask(two, 'pid')).result);
		const before = (await kept.ask(two, 'pid')).result;
		for (const {running} of [one, three]) running.child.kill('SIGSTOP');
		const waiting = lost.post(two, {id: 'waiting', method: 'pid'});
		const hasRunOut = async (): Promise<boolean> =>
			(await leases()).filter(lease => lease !== '0').length === 1;
		while (!(await hasRunOut())) await sleep(100);
		// The pending request may have been executed, so it fails. Later requests were not.
		t.like(JSON.parse((await waiting).text), {id: 'waiting', error: {code: -31001}});
		t.is((await lost.post(two, {id: 1, method: 'pid'})).status, 404);
		t.true((await leases()).includes('0'));
		for (const {running} of [one, three]) running.child.kill('SIGCONT');
		t.is((await lost.post(one, {id: 2, method: 'pid'})).status, 404);
		await one.running.says(/replica\.lease_lost/);
		t.is((await lost.post(two, {id: 3, method: 'pid'})).status, 404);
		t.deepEqual((await kept.ask(three, 'pid')).result, before);
		t.deepEqual((await kept.ask(two, 'pid')).result, before);
		t.notRegex(three.running.stderr, /lease_lost/);
		// A new session at that replica gets a lease with a higher number.
		const next = await roam(one, 'puppet');
		t.truthy((await next.ask(two, 'pid')).result);
		while (!(await leases()).includes('4')) await sleep(50);
		// A second signal exits at once, and still releases the lease.
		one.running.child.kill('SIGTERM');
		one.running.child.kill('SIGTERM');
		t.is((await one.running.exited).code, 0);
		t.false((await leases()).includes('4'));
		t.is((await next.post(two, {id: 1, method: 'pid'})).status, 404);
	},
);

/** Longer than the delay after which replicas check the store for lost leases. */
const LEASE_CHECK_MS = 8000;

/** Clients, each with the replicas that must accept its session. */
type Served = ReadonlyArray<readonly [Roamer, readonly RunningGateway[]]>;

async function areServed(t: ExecutionContext, clients: Served): Promise<void> {
	for (const [client, replicas] of clients)
		for (const gateway of replicas) t.truthy((await client.ask(gateway, 'pid')).result);
}

async function stayServed(t: ExecutionContext, clients: Served): Promise<void> {
	for (const end = performance.now() + LEASE_CHECK_MS; performance.now() < end; await sleep(200))
		await areServed(t, clients);
}

test.serial('replicas with a store rotate the secret one at a time [M2]', async t => {
	const redis = await startRedis(t);
	const common = {servers: {puppet: program('puppet')}, store: `redis://127.0.0.1:${redis.port}`};
	const [old, both, next] = await Promise.all(
		[OLD, `${OLD}\n${NEW}`, `${NEW}\n${OLD}`].map(secret => startReplica(t, {...common, secret})),
	);
	if (!old || !both || !next) throw new Error('There are three.');
	const all = [old, both, next];
	while ((await leasesIn(redis)).join() !== '1,2,3') await sleep(50);
	const [first, second, third] = [
		await roam(old, 'puppet'),
		await roam(both, 'puppet'),
		await roam(next, 'puppet'),
	];
	// The session id of the third is sealed with the new secret.
	const clients: Served = [
		[first, all],
		[second, all],
		[third, [both, next]],
	];
	await stayServed(t, clients);
	// Pending requests, forwarded or local, survive the change of the secret.
	const pending = [
		first.post(next, {id: 'held', method: 'hold'}),
		second.post(old, {id: 'held', method: 'hold'}),
	];
	const isHeld = async (client: Roamer): Promise<boolean> =>
		((await client.ask(both, 'held')).result as {count: number}).count > 0;
	for (const client of [first, second]) while (!(await isHeld(client))) await sleep(20);
	for (const gateway of [old, both]) {
		await alter(gateway, {secret: `${NEW}\n${OLD}`});
		await areServed(t, clients);
	}
	for (const client of [first, second]) await client.ask(next, 'release');
	for (const {status} of await Promise.all(pending)) t.is(status, 200);
	await areServed(t, [[third, all]]);
	for (const {running} of all) t.notRegex(running.stderr, /replica\./);
});

test.serial('replicas that move to another store one at a time keep their sessions [M6]', async t => {
	const [redis, other] = await Promise.all([startRedis(t), startRedis(t)]);
	const store = `redis://127.0.0.1:${redis.port}`;
	const replicas = await startReplicas(t, 2, {servers: {puppet: program('puppet')}, store});
	const [one, two] = replicas;
	if (!one || !two) throw new Error('There are two.');
	for (const gateway of replicas) await becomes(gateway, 'ready');
	while ((await leasesIn(redis)).join() !== '1,2') await sleep(50);
	const clients: Served = [
		[await roam(one, 'puppet'), replicas],
		[await roam(two, 'puppet'), replicas],
	];
	await alter(one, {store: `redis://127.0.0.1:${other.port}`});
	await becomes(one, 'ready');
	await stayServed(t, clients);
	await alter(two, {store: `redis://127.0.0.1:${other.port}`});
	await becomes(two, 'ready');
	await areServed(t, clients);
	while ((await leasesIn(other)).join() !== '1,2') await sleep(50);
	// First without a store, then with one again.
	for (const config of [{store: undefined}, {store}]) {
		for (const gateway of replicas) {
			await alter(gateway, config);
			await areServed(t, clients);
		}
	}
	for (const {running} of replicas) t.notRegex(running.stderr, /replica\./);
});
