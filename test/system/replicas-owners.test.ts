import {setTimeout as sleep} from 'node:timers/promises';
import test from 'ava';
import {program} from '../helpers/gateway.js';
import {roam, startReplicas} from '../replicas/support.js';
import {becomes} from './balanced.js';
import {startRedis} from './redis.js';

test('M6 a replica that was paused for longer than its lease is no owner any more where another has taken it, and goes on where nobody has', async t => {
	const redis = await startRedis(t);
	const store = `redis://127.0.0.1:${redis.port}`;
	const replicas = await startReplicas(t, 3, {servers: {puppet: program('puppet')}, store});
	const [one, two, three] = replicas;
	if (!one || !two || !three) throw new Error('There are three.');
	for (const gateway of replicas) await becomes(gateway, 'ready');
	const leases = async (): Promise<string[]> => {
		const keys = (await redis.cli(['KEYS', 'bridge:owner:*'])).split('\n');
		return (await Promise.all(keys.map(key => redis.cli(['GET', key])))).sort();
	};
	while ((await leases()).join() !== '1,2,3') await sleep(50);
	const lost = await roam(one, 'puppet');
	const kept = await roam(three, 'puppet');
	t.truthy((await lost.ask(two, 'pid')).result);
	const before = (await kept.ask(two, 'pid')).result;
	for (const {running} of [one, three]) running.child.kill('SIGSTOP');
	const waiting = lost.post(two, {id: 'waiting', method: 'pid'});
	const hasRunOut = async (): Promise<boolean> => (await leases()).filter(held => held !== '0').length === 1;
	while (!(await hasRunOut())) await sleep(100);
	// What was asked of it may have been done; what is asked now was not.
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
	// Whoever begins anew there has a session under a lease with a higher number.
	const next = await roam(one, 'puppet');
	t.truthy((await next.ask(two, 'pid')).result);
	while (!(await leases()).includes('4')) await sleep(50);
	// Who ends gives back what it held.
	one.running.child.kill('SIGTERM');
	one.running.child.kill('SIGTERM');
	t.is((await one.running.exited).code, 0);
	t.false((await leases()).includes('4'));
	t.is((await next.post(two, {id: 1, method: 'pid'})).status, 404);
});
