import test from 'ava';
import {RevokedIds} from '../../../lib/gateway/cluster/revoked-ids.js';
import type {SharedStore} from '../../../lib/gateway/cluster/shared-store.js';
import {roam, startReplica} from '../../e2e/replicas/support.js';
import {startUpstream} from '../../helpers/upstream.js';

const call = {id: 9, method: 'tools/call', params: {name: 'echo', arguments: {}}};

for (const hasSessions of [true, false])
	test(`a session that its client ended is not resumed, with an upstream ${hasSessions ? 'with' : 'without'} sessions [SEC-D22]`, async t => {
		const upstream = await startUpstream(t);
		upstream.hasSessions = hasSessions;
		const gateway = await startReplica(t, {servers: {echo: {url: upstream.url}}});
		const [client, other] = [await roam(gateway, 'echo'), await roam(gateway, 'echo')];
		await gateway.fetch('/mcp/echo', {method: 'DELETE', headers: client.headers});
		const {executions} = upstream;
		t.is((await client.post(gateway, call)).status, 404);
		for (const method of ['GET', 'DELETE']) {
			const headers = {accept: 'text/event-stream', ...client.headers};
			t.is((await gateway.fetch('/mcp/echo', {method, headers})).status, 404, method);
		}
		t.is(upstream.executions, executions);
		t.is((await other.post(gateway, call)).status, 200);
	});

/** A store in memory, that several replicas share. */
function memory() {
	const values = new Map<string, string>();
	const hearers = new Map<string, Set<(what: string) => void>>();
	const redis = {
		get: async (key: string) => values.get(key) ?? null,
		set: async (key: string, value: string) => void values.set(key, value),
	};
	const store = (): object => ({
		isUp: true,
		key: (kind: string, name: string) => `${kind}:${name}`,
		hashedName: (...parts: string[]) => parts.join(' '),
		run: (work: (given: typeof redis) => Promise<unknown>) => work(redis),
		publish: (name: string, what: string) => {
			for (const hear of hearers.get(name) ?? []) hear(what);
		},
		subscribe: (name: string, hear: (what: string) => void) => {
			hearers.set(name, (hearers.get(name) ?? new Set()).add(hear));
			return () => hearers.get(name)?.delete(hear);
		},
	});
	return {store: () => store() as unknown as SharedStore, hearers};
}

test('replicas get ended ids from their store, by notification or by lookup [SEC-D22]', async t => {
	const {store, hearers} = memory();
	const [one, two, late] = [1, 2, 3].map(() => new RevokedIds(store(), 'ended', 1000));
	if (!one || !two || !late) throw new Error('There are three.');
	const ended: string[] = [];
	const unwatch = two.watch('a', () => ended.push('a'));
	two.watch('b', () => ended.push('b'));
	one.add('a');
	await new Promise(setImmediate);
	t.deepEqual(ended, ['a']);
	t.true(two.has('a'));
	t.false(late.has('a'));
	await late.confirm('a');
	t.true(late.has('a'));
	await late.confirm('b');
	t.false(late.has('b'));
	unwatch();
	t.is(hearers.get('ended a')?.size, 0);
	// After a notification that messages may have been missed, a replica looks it up.
	for (const hear of hearers.get('ended b') ?? []) hear('');
	await new Promise(setImmediate);
	t.deepEqual(ended, ['a']);
});

test('remembers 10,000 ended ids until they expire, also without a store [SEC-D22]', t => {
	let now = 0;
	const down = {
		isUp: false,
		key: () => '',
		hashedName: () => '',
		run: async () => undefined,
		publish: () => {},
	};
	const revoked = new RevokedIds(down as unknown as SharedStore, 'ended', 1000, () => now);
	for (let id = 0; id <= 10_000; id++) revoked.add(String(id));
	t.false(revoked.has('0'));
	t.true(revoked.has('1'));
	t.is(revoked.confirm('0'), undefined);
	now = 1000;
	t.false(revoked.has('10000'));
});
