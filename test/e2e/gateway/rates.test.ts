import {once} from 'node:events';
import test from 'ava';
import {WebSocket} from 'ws';
import {opening} from '../../helpers/bridge.js';
import {program, startGateway} from '../../helpers/gateway.js';

const servers = {puppet: {...program('puppet'), shared: true}};

test('who asks more often than limits.rate says is told when to come back, and nobody else is [F5]', async t => {
	const gateway = await startGateway(t, {servers, limits: {rate: '25/h'}});
	const own = {authorization: 'Bearer a'};
	const session = await gateway.open('puppet', own);
	for (let id = 3; id <= 25; id++) t.is((await session.post({id, method: 'pid'})).status, 200);
	const {status, headers, text} = await session.post({id: 26, method: 'pid'});
	t.is(status, 429);
	t.true(Number(headers.get('retry-after')) > 3000);
	t.like(JSON.parse(text), {error: {code: -31003, data: {source: 'bridge', kind: 'overloaded'}}});
	// A client of the newest era that asks what there is must not take this for no server at all.
	const discovery = {id: 1, method: 'server/discover'};
	t.is((await gateway.post('puppet', discovery, {...own, 'mcp-method': 'server/discover'})).status, 400);
	// What others ask, and what is not posted, is not meant.
	t.truthy((await (await gateway.open('puppet', {authorization: 'Bearer b'})).request(1, 'pid')).result);
	t.truthy((await (await gateway.open('puppet')).request(1, 'pid')).result);
	t.is((await gateway.fetch('/mcp/puppet', {method: 'DELETE', headers: session.headers})).status, 200);
});

test('over WebSocket each request counts, is refused by an answer, and the connection goes on [F5]', async t => {
	const gateway = await startGateway(t, {servers, limits: {rate: '3/h'}});
	const socket = new WebSocket(new URL('/mcp/puppet', gateway.base.href.replace('http', 'ws')), 'mcp');
	t.teardown(() => socket.terminate());
	await once(socket, 'open');
	const heard: Array<{id: number; error?: {code: number}}> = [];
	const all = new Promise<void>(resolve => {
		socket.on('message', data => {
			heard.push(JSON.parse(String(data)));
			if (heard.length === 5) resolve();
		});
	});
	const say = (message: object): void => socket.send(JSON.stringify({jsonrpc: '2.0', ...message}));
	say({id: 0, method: 'initialize', params: opening});
	say({method: 'notifications/initialized'});
	for (let id = 1; id < 5; id++) say({id, method: 'pid'});
	await all;
	const codes = new Map(heard.map(({id, error}) => [id, error?.code]));
	t.deepEqual(
		[0, 1, 2, 3, 4].map(id => codes.get(id)),
		[undefined, undefined, undefined, -31003, -31003],
	);
	t.is(socket.readyState, socket.OPEN);
});
