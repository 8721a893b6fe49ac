import test from 'ava';
import {RevokedIds} from '../../../lib/gateway/cluster/revoked-ids.js';
import type {SharedStore} from '../../../lib/gateway/cluster/shared-store.js';
import {roam, startReplica} from '../../e2e/replicas/support.js';
import {startUpstream} from '../../helpers/upstream.js';

const call = {id: 9, method: 'tools/call', params: {name: 'echo', arguments: {}}};

for (const hasSessions of [true, false])
	test(`does not resume a session that its client has ended, with an upstream ${hasSessions ? 'with' : 'without'} sessions [SEC-D22]`, async t => {
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

/** An in-memory store that several replicas share. */
function memoryStore() {
	const values = new Map<string, string>();
	const subscribers = new Map<string, Set<(message: string) => void>>();
	const redis = {
		get: async (key: string) => values.get(key) ?? null,
		set: async (key: string, value: string) => void values.set(key, value),
	};
	const store = (): object => ({
		isUp: true,
		key: (kind: string, name: string) => `${kind}:${name}`,
		hashedName: (...parts: string[]) => parts.join(' '),
		run: (command: (client: typeof redis) => Promise<unknown>) => command(redis),
		publish: (name: string, message: string) => {
			for (const notify of subscribers.get(name) ?? []) notify(message);
		},
		subscribe: (name: string, notify: (message: string) => void) => {
			subscribers.set(name, (subscribers.get(name) ?? new Set()).add(notify));
			return () => subscribers.get(name)?.delete(notify);
		},
	});
	return {store: () => store() as unknown as SharedStore, subscribers};
}

test('replicas receive ended ids from their store, by notification or by lookup [SEC-D22]', async t => {
	const {store, subscribers} = memoryStore();
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
	t.is(subscribers.get('ended a')?.size, 0);
	// An empty message means that notifications may have been missed, so the replica looks the id up.
	for (const notify of subscribers.get('ended b') ?? []) notify('');
	await new Promise(setImmediate);
	t.deepEqual(ended, ['a']);
});

test('keeps 10,000 ended ids until they expire, also without a store [SEC-D22]', t => {
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
