import test from 'ava';
import {opening} from '../../helpers/bridge.js';
import {messageIn, program, startGateway} from '../../helpers/gateway.js';
import {eventsOf} from './events.js';
import {roam, startReplica, startReplicas} from './support.js';

const servers = {puppet: program('puppet')};
const initialize = {id: 'first', method: 'initialize', params: opening};

test('a draining replica is not ready, accepts no new session and serves its open ones [L8]', async t => {
	const gateway = await startReplica(t, {servers});
	const client = await roam(gateway, 'puppet');
	const listening = await eventsOf(t, gateway, client);
	t.is((await gateway.fetch('/readyz')).status, 200);
	gateway.running.child.kill('SIGTERM');
	await gateway.running.says(/gateway\.draining/);
	const notReady = await gateway.fetch('/readyz');
	t.is(notReady.status, 503);
	t.is(notReady.headers.get('retry-after'), '1');
	t.is((await gateway.fetch('/healthz')).status, 200);
	const rejected = await gateway.post('puppet', initialize);
	t.is(rejected.status, 503);
	t.is(rejected.headers.get('retry-after'), '1');
	const reply = await client.post(gateway, {id: 1, method: 'echo', params: {a: 1}});
	t.like(JSON.parse(reply.text), {id: 1, result: {a: 1}});
	t.is(reply.headers.get('connection'), 'close');
	gateway.running.child.kill('SIGTERM');
	await listening.ended;
	t.deepEqual(listening.retries.slice(-1), [1000]);
	t.is((await gateway.running.exited).code, 0);
});

test('completes pending calls of a draining replica; later ones find no session and none fails [L8] [M3]', async t => {
	const [one, two] = await startReplicas(t, 2, {servers});
	if (!one || !two) throw new Error('Two replicas are required.');
	const [busy, idle] = [await roam(one, 'puppet'), await roam(one, 'puppet')];
	// Longer than the drain delay, in which other replicas notice the shutdown.
	const slow = busy.post(two, {id: 'slow', method: 'slow', params: {ms: 6500}});
	await busy.ask(two, 'pid');
	const ended = one.stop();
	// Each client receives responses and then only 404.
	const statuses = async (client: typeof busy): Promise<number[]> => {
		const seen = new Set<number>();
		while (!seen.has(404)) seen.add((await client.post(two, {id: 1, method: 'pid'})).status);
		return [...seen];
	};
	t.deepEqual(await Promise.all([busy, idle].map(statuses)), [
		[200, 404],
		[200, 404],
	]);
	const reply = await slow;
	t.is(reply.status, 200);
	t.like(messageIn(reply), {id: 'slow', result: {ms: 6500}});
	t.is(await ended, 0);
	t.is((await busy.post(two, {id: 2, method: 'pid'})).status, 404);
	const {text} = await two.fetch('/metrics');
	t.regex(text, /^bridge_requests_forward_failures 0$/m);
});

test('a single gateway ends GET streams on shutdown with a retry interval [L8]', async t => {
	const gateway = await startGateway(t, {servers});
	const client = await roam(gateway, 'puppet');
	const listening = await eventsOf(t, gateway, client);
	gateway.running.child.kill('SIGTERM');
	await listening.ended;
	t.true(listening.retries.includes(1000));
	t.is((await gateway.running.exited).code, 0);
});
