import {setTimeout as sleep} from 'node:timers/promises';
import test from 'ava';
import {eventsOf} from '../e2e/replicas/events.js';
import {type Roamer, roam, SECRET} from '../e2e/replicas/support.js';
import {alter} from '../helpers/change.js';
import type {RunningGateway} from '../helpers/gateway.js';
import {event} from '../helpers/upstream.js';
import {becomes} from './balanced.js';
import {startRedis, userOfDocs} from './redis.js';
import {callAndDisconnect, setting, slowResponse} from './two-replicas.js';

const toolsOf = async (client: Roamer, gateway: RunningGateway): Promise<string> => {
	const {result} = await client.ask(gateway, 'tools/list');
	return (result as {tools: Array<{name: string}>}).tools.map(({name}) => name).join();
};

test('replicas keep sharing their state while the secrets and the store change [M2] [M5] [D8]', async t => {
	const {redis, upstream, one, two} = await setting(t);
	const other = await startRedis(t, userOfDocs());
	const first = await roam(one, 'http');
	const second = await roam(two, 'http');
	await eventsOf(t, one, first);
	await upstream.meets('GET');
	t.deepEqual([await toolsOf(first, one), await toolsOf(second, two)], ['echo', 'echo']);
	const store = `redis://bridge:planted-password@127.0.0.1:${other.port}`;
	await alter(one, {store, secret: `another ${SECRET}\n${SECRET}`});
	await alter(two, {store, secret: `${SECRET}\nanother ${SECRET}`});
	await redis.kill();
	for (const gateway of [one, two]) await becomes(gateway, 'ready');
	t.is(await toolsOf(second, two), 'echo');
	upstream.tools = ['echo', 'other'].map(name => ({name, inputSchema: {type: 'object'}}));
	upstream.streams[0]?.write(event({method: 'notifications/tools/list_changed'}));
	while ((await toolsOf(second, two)) !== 'echo,other') await sleep(20);
	const started = slowResponse(upstream);
	const place = await callAndDisconnect(one, first);
	const send = await started;
	send({id: 'call', result: {content: []}});
	const rest = await eventsOf(t, two, first, place);
	t.regex(await rest.next(), /"id":"call","result"/);
	await rest.ended;
});
