import {once} from 'node:events';
import test from 'ava';
import {WebSocket} from 'ws';
import {opening} from '../../helpers/bridge.js';
import {program, startGateway} from '../../helpers/gateway.js';

const servers = {puppet: {...program('puppet'), shared: true}};

test('rejects requests of a client over limits.rate with Retry-After, and serves other clients [F5]', async t => {
	const gateway = await startGateway(t, {servers, limits: {rate: '25/h'}});
	const own = {authorization: 'Bearer a'};
	const session = await gateway.open('puppet', own);
	for (let id = 3; id <= 25; id++) t.is((await session.post({id, method: 'pid'})).status, 200);
	const {status, headers, text} = await session.post({id: 26, method: 'pid'});
	t.is(status, 429);
	t.true(Number(headers.get('retry-after')) > 3000);
	t.like(JSON.parse(text), {error: {code: -31003, data: {source: 'bridge', kind: 'overloaded'}}});
	// A stateless client must not take this reply to server/discover as a missing server.
	const discovery = {id: 1, method: 'server/discover'};
	t.is((await gateway.post('puppet', discovery, {...own, 'mcp-method': 'server/discover'})).status, 400);
	// Other clients and requests other than POST are not limited.
	t.truthy((await (await gateway.open('puppet', {authorization: 'Bearer b'})).request(1, 'pid')).result);
	t.truthy((await (await gateway.open('puppet')).request(1, 'pid')).result);
	t.is((await gateway.fetch('/mcp/puppet', {method: 'DELETE', headers: session.headers})).status, 200);
});

test('counts each request over WebSocket, and rejects requests over the rate with an error [F5]', async t => {
	const gateway = await startGateway(t, {servers, limits: {rate: '3/h'}});
	const socket = new WebSocket(new URL('/mcp/puppet', gateway.base.href.replace('http', 'ws')), 'mcp');
	t.teardown(() => socket.terminate());
	await once(socket, 'open');
	const received: Array<{id: number; error?: {code: number}}> = [];
	const all = new Promise<void>(resolve => {
		socket.on('message', data => {
			received.push(JSON.parse(String(data)));
			if (received.length === 5) resolve();
		});
	});
	const send = (message: object): void => socket.send(JSON.stringify({jsonrpc: '2.0', ...message}));
	send({id: 0, method: 'initialize', params: opening});
	send({method: 'notifications/initialized'});
	for (let id = 1; id < 5; id++) send({id, method: 'pid'});
	await all;
	const codes = new Map(received.map(({id, error}) => [id, error?.code]));
	t.deepEqual(
		[0, 1, 2, 3, 4].map(id => codes.get(id)),
		[undefined, undefined, undefined, -31003, -31003],
	);
	t.is(socket.readyState, socket.OPEN);
});
