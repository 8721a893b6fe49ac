import {once} from 'node:events';
import {createConnection} from 'node:net';
import test from 'ava';
import {WebSocket} from 'ws';
import {program, startGateway} from '../../helpers/gateway.js';
import {until} from '../../helpers/program.js';
import {common} from '../../helpers/raw-requests.js';

const tokens = ['token-of-client-a', 'token-of-client-b'];
const [a, b] = tokens.map(token => ({'x-bridge-token': token}));
if (!a || !b) throw new Error('There are two.');
const servers = {puppet: {...program('puppet'), shared: true}};

test('pipelined requests no longer count when their connection closes [SEC-D18]', async t => {
	const gateway = await startGateway(t, {tokens, servers, limits: {clientRequests: 5}});
	const {headers} = await gateway.open('puppet', b);
	const lines = [...common, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)];
	const body = JSON.stringify({jsonrpc: '2.0', id: 1, method: 'hold'});
	const head = [...lines, `Content-Length: ${body.length}`].join('\r\n');
	const pipelined = `GET /status HTTP/1.1\r\nHost: localhost\r\nX-Bridge-Token: ${tokens[0]}\r\n\r\n`;
	const socket = createConnection(gateway.port, '127.0.0.1').on('error', () => {});
	t.teardown(() => socket.destroy());
	socket.write(
		`POST /mcp/puppet HTTP/1.1\r\nHost: localhost\r\n${head}\r\n\r\n${body}${pipelined.repeat(5)}`,
	);
	const isRejected = async () => (await gateway.fetch('/status', {headers: a})).status === 503;
	await until(isRejected);
	socket.destroy();
	await until(async () => !(await isRejected()));
	t.pass();
});

test('a WebSocket over the quota of requests is rejected without the end of a session [SEC-D18]', async t => {
	const limits = {clientRequests: 3, clientSessions: 2};
	const gateway = await startGateway(t, {tokens, servers, limits});
	const sessions = [await gateway.open('puppet', a), await gateway.open('puppet', a)];
	const controller = new AbortController();
	t.teardown(() => controller.abort());
	const stream = () =>
		fetch(new URL('/traffic', gateway.base), {
			headers: {...a, accept: 'text/event-stream'},
			signal: controller.signal,
		});
	const streams = [];
	for (let response = await stream(); response.status === 200; response = await stream())
		streams.push(response);
	t.is(streams.length, 3);
	const url = new URL('/mcp/puppet', gateway.base.href.replace('http', 'ws'));
	const [error] = await once(new WebSocket(url, 'mcp', {headers: a}), 'error').catch(cause => [cause]);
	t.regex(String(error), /503/);
	controller.abort();
	await until(async () => (await gateway.fetch('/status', {headers: a})).status === 200);
	for (const session of sessions) t.is((await session.post({id: 1, method: 'ping'})).status, 200);
});
