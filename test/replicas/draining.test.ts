import test from 'ava';
import {opening} from '../helpers/bridge.js';
import {program, startGateway} from '../helpers/gateway.js';
import {eventsOf} from './events.js';
import {roam, startReplica} from './support.js';

const servers = {puppet: program('puppet')};
const initialize = {id: 'first', method: 'initialize', params: opening};

test('L8 a replica that is to end says that it is not ready, begins nothing, and goes on with what it has', async t => {
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
	const refused = await gateway.post('puppet', initialize);
	t.is(refused.status, 503);
	t.is(refused.headers.get('retry-after'), '1');
	const answer = await client.post(gateway, {id: 1, method: 'echo', params: {a: 1}});
	t.like(JSON.parse(answer.text), {id: 1, result: {a: 1}});
	t.is(answer.headers.get('connection'), 'close');
	gateway.running.child.kill('SIGTERM');
	await listening.ended;
	t.deepEqual(listening.retries.slice(-1), [1000]);
	t.is((await gateway.running.exited).code, 0);
});

test('L8 a gateway of its own sends those away who listen, with when to come back', async t => {
	const gateway = await startGateway(t, {servers});
	const client = await roam(gateway, 'puppet');
	const listening = await eventsOf(t, gateway, client);
	gateway.running.child.kill('SIGTERM');
	await listening.ended;
	t.true(listening.retries.includes(1000));
	t.is((await gateway.running.exited).code, 0);
});
