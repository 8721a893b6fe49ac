import {setTimeout as sleep} from 'node:timers/promises';
import test from 'ava';
import {eventsOf} from '../e2e/replicas/events.js';
import {type Roamer, roam, SECRET, startReplicas} from '../e2e/replicas/support.js';
import type {RunningGateway} from '../helpers/gateway.js';
import {program} from '../helpers/gateway.js';
import {event, startUpstream} from '../helpers/upstream.js';
import {becomes, load, newClients, startBalancer} from './balanced.js';
import {startRedis} from './redis.js';
import {callAndDisconnect, setting, slowResponse} from './two-replicas.js';

/** Whether each change of the store's state was logged exactly once. */
function isLoggedOnce(stderr: string): boolean {
	const changes = [...stderr.matchAll(/"store\.(down|up)"/g)].map(([, state]) => state);
	return changes.length > 1 && changes.every((state, at) => state === (at % 2 === 0 ? 'down' : 'up'));
}

const toolsOf = async (client: Roamer, gateway: RunningGateway): Promise<unknown> => {
	const {result} = await client.ask(gateway, 'tools/list');
	return (result as {tools: Array<{name: string}>}).tools.map(({name}) => name);
};

const tool = (name: string) => ({name, inputSchema: {type: 'object'}});
const changed = event({method: 'notifications/tools/list_changed'});

test('notifies clients of all replicas of changed tools, also after the store was down [M5]', async t => {
	const {redis, upstream, one, two} = await setting(t);
	const first = await roam(one, 'http');
	const second = await roam(two, 'http');
	await eventsOf(t, one, first);
	await upstream.meets('GET');
	const listening = await eventsOf(t, two, second);
	await upstream.meets('GET', 2);
	t.deepEqual(await toolsOf(first, one), ['echo']);
	t.deepEqual(await toolsOf(second, two), ['echo']);
	// Waits for a total of `count` notifications; the first one may come from the initial list.
	const notified = async (count: number): Promise<void> => {
		const received = (): number => listening.events.filter(({data}) => data.includes('list_changed')).length;
		while (received() < count) await sleep(20);
	};
	await notified(1);
	upstream.tools = [tool('echo'), tool('other')];
	upstream.streams[0]?.write(changed);
	await notified(2);
	t.deepEqual(await toolsOf(second, two), ['echo', 'other']);
	await redis.kill();
	for (const gateway of [one, two]) await becomes(gateway, 'degraded');
	upstream.tools = [tool('third')];
	upstream.streams[0]?.write(changed);
	await redis.start();
	await notified(3);
	t.deepEqual(await toolsOf(second, two), ['third']);
	for (const {running} of [one, two]) {
		await running.says(/"store\.up"/);
		t.true(isLoggedOnce(running.stderr));
	}
});

test('neither the store nor a log contains a secret, a session id or message content [M7]', async t => {
	const {redis, upstream, one, two} = await setting(t);
	upstream.tools = [tool('planted-tool')];
	const client = await roam(one, 'http', {authorization: 'Bearer planted-authorization'});
	t.deepEqual(await toolsOf(client, two), ['planted-tool']);
	const started = slowResponse(upstream);
	const place = await callAndDisconnect(one, client);
	const send = await started;
	send({id: 'call', result: {content: [{type: 'text', text: 'planted-body'}]}});
	const rest = await eventsOf(t, two, client, place);
	await rest.ended;
	t.regex(rest.events.map(({data}) => data).join(''), /planted-body/);
	const child = await roam(one, 'puppet', {authorization: 'Bearer planted-authorization'});
	t.truthy((await child.ask(two, 'pid')).result);
	const keys = (await redis.cli(['KEYS', '*'])).split('\n');
	const kinds = ['events:', 'tools:', 'owner:', 'fence', 'last:', 'rate:'];
	for (const kind of kinds)
		t.true(
			keys.some(key => key.startsWith(`bridge:${kind}`)),
			kind,
		);
	// Redis logs no denied command for the documented user.
	t.is(await redis.cli(['ACL', 'LOG']), '');
	let dump = keys.join('\n');
	for (const key of keys) {
		const type = await redis.cli(['TYPE', key]);
		dump += await redis.cli(type === 'stream' ? ['XRANGE', key, '-', '+'] : ['GET', key]);
	}
	t.true(dump.length > 500);
	const [upstreamSession = ''] = upstream.sessions;
	for (const text of [dump, one.running.stderr, two.running.stderr])
		for (const secret of [/planted/, SECRET, client.id, child.id, upstreamSession].map(
			one => new RegExp(one),
		))
			t.notRegex(text, secret);
});

test('a restart of the store under load fails no call [M4]', async t => {
	t.timeout(300_000);
	const redis = await startRedis(t);
	const upstream = await startUpstream(t);
	upstream.mood = () => {
		upstream.met.length = 0;
		return false;
	};
	const servers = {
		http: {url: upstream.url, cacheTools: true},
		shared: {...program('puppet'), shared: true},
	};
	const replicas = await startReplicas(t, 3, {servers, store: `redis://127.0.0.1:${redis.port}`});
	const clients = await newClients(t, await startBalancer(t, replicas), {http: 20, shared: 10});
	const succeeded = (): number => clients.reduce((sum, one) => sum + one.succeeded, 0);
	let isOver = false;
	const loaded = load(clients, () => isOver);
	const succeed = async (count: number): Promise<void> => {
		const before = succeeded();
		while (succeeded() < before + count) await sleep(20);
	};
	await succeed(500);
	await redis.kill();
	for (const gateway of replicas) await becomes(gateway, 'degraded');
	await succeed(500);
	await redis.start();
	for (const gateway of replicas) await becomes(gateway, 'ready');
	await succeed(500);
	isOver = true;
	await loaded;
	t.deepEqual(
		clients.flatMap(({failures}) => failures),
		[],
	);
	t.true(clients.every(({reinitializations}) => reinitializations === 0));
	for (const {running} of replicas) t.true(isLoggedOnce(running.stderr));
});
