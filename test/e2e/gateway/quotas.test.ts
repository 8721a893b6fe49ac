import {once} from 'node:events';
import {createConnection, type Socket} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {WebSocket} from 'ws';
import {opening} from '../../helpers/bridge.js';
import {program, type RunningGateway, startGateway} from '../../helpers/gateway.js';
import {until} from '../../helpers/program.js';
import {common} from '../../helpers/raw-requests.js';
import {shop} from '../hub/support.js';

const tokens = ['token-of-client-a', 'token-of-client-b'];
const [a, b] = tokens.map(token => ({'x-bridge-token': token}));
if (!a || !b) throw new Error('There are two.');
const servers = {puppet: {...program('puppet'), shared: true}};
const ping = {id: 1, method: 'ping'};

test('a client that opens many sessions evicts only its own [SEC-D18]', async t => {
	const gateway = await startGateway(t, {tokens, servers, limits: {sessions: 10}});
	const other = await gateway.open('puppet', b);
	const own = await gateway.open('puppet', a);
	for (let count = 0; count < 30; count++) await gateway.open('puppet', a);
	t.is((await other.post(ping)).status, 200);
	t.is((await own.post(ping)).status, 404);
	t.is(JSON.parse((await gateway.fetch('/status', {headers: b})).text).sessions, 6);
	for (let count = 0; count < 30; count++)
		await gateway.open('puppet', {...a, authorization: `Bearer ${count}`});
	t.is((await other.post(ping)).status, 200, 'other Authorization headers do not change that');
});

test('evicts a session of the client with the most ones at the limit of all sessions [SEC-D18]', async t => {
	const allTokens = [...tokens, 'token-of-client-c'];
	const limits = {sessions: 6, clientSessions: 4};
	const gateway = await startGateway(t, {tokens: allTokens, servers, limits});
	const c = await gateway.open('puppet', {'x-bridge-token': 'token-of-client-c'});
	for (let count = 0; count < 4; count++) await gateway.open('puppet', a);
	for (let count = 0; count < 10; count++) await gateway.open('puppet', b);
	t.is((await c.post(ping)).status, 200);
	t.is(JSON.parse((await gateway.fetch('/status', {headers: b})).text).sessions, 6);
});

test('rejects a client at its quota while all its sessions are in use, and serves others [SEC-D18]', async t => {
	const gateway = await startGateway(t, {tokens, servers, limits: {sessions: 4}});
	const held: Response[] = [];
	const stream = async (headers: {[name: string]: string}): Promise<Response> => {
		const controller = new AbortController();
		t.teardown(() => controller.abort());
		const response = await fetch(new URL('/mcp/puppet/sse', gateway.base), {
			signal: controller.signal,
			headers: {...headers, accept: 'text/event-stream'},
		});
		held.push(response);
		return response;
	};
	t.deepEqual([(await stream(a)).status, (await stream(a)).status], [200, 200]);
	const rejected = await stream(a);
	t.is(rejected.status, 503);
	t.regex(await rejected.text(), /-31003.*limits\.clientSessions/);
	t.is((await gateway.post('puppet', {id: 1, method: 'initialize', params: opening}, a)).status, 503);
	t.is((await stream(b)).status, 200);
	t.is((await (await gateway.open('puppet', b)).post(ping)).status, 200);
});

/** Sends each request over a separate connection and collects the text of each response. */
function flood(t: ExecutionContext, gateway: RunningGateway, count: number, text: (at: number) => string) {
	const responses: string[] = Array.from({length: count}, () => '');
	const sockets = new Set<Socket>();
	t.teardown(() => {
		for (const socket of sockets) socket.destroy();
	});
	const send = async (at: number): Promise<void> => {
		const socket = createConnection(gateway.port, '127.0.0.1').on('error', () => {});
		sockets.add(socket);
		socket.on('data', data => (responses[at] += data.toString())).once('close', () => sockets.delete(socket));
		await new Promise(resolve => socket.once('connect', resolve).once('close', resolve));
		socket.write(text(at));
	};
	// Rejected requests close their connections. Waiting for that keeps the total below 1024 connections.
	const all = async (): Promise<void> => {
		for (let at = 0; at < count; at += 50) {
			await until(() => sockets.size < 600);
			await Promise.all(Array.from({length: Math.min(50, count - at)}, (_, more) => send(at + more)));
		}
	};
	return {responses, all: all()};
}

test('a client with more pending requests than connections does not block others [SEC-D18]', async t => {
	const withoutTimeout = {puppet: {...program('puppet'), timeout: 0}};
	const gateway = await startGateway(t, {tokens, servers: withoutTimeout});
	// Fewer than 256 requests per session, which is the limit for an upstream that is slow to read.
	const sessions = await Promise.all([1, 2, 3, 4, 5].map(() => gateway.open('puppet', a)));
	const {responses, all} = flood(t, gateway, 1100, at => {
		const id = `Mcp-Session-Id: ${sessions[at % 5]?.headers['mcp-session-id']}`;
		const body = JSON.stringify({jsonrpc: '2.0', id: at, method: 'hold'});
		const head = [...common, id, `X-Bridge-Token: ${a['x-bridge-token']}`, `Content-Length: ${body.length}`];
		return `POST /mcp/puppet HTTP/1.1\r\nHost: localhost\r\n${head.join('\r\n')}\r\n\r\n${body}`;
	});
	await all;
	const rejected = (): number =>
		responses.filter(response => /^HTTP\/1\.1 503 .*limits\.clientRequests/s.test(response)).length;
	await until(() => rejected() >= 1100 - 512);
	const other = await gateway.open('puppet', b);
	t.deepEqual((await other.request(1, 'echo', {a: 1})).result, {a: 1});
	t.is(rejected(), 1100 - 512);
	// After 10 s, the gateway begins the event stream of a response that is still pending.
	const others = responses.filter(response => !response.startsWith('HTTP/1.1 503'));
	t.is(others.length, 512);
	t.true(
		others.every(response => !response.includes('jsonrpc')),
		'the rest is pending',
	);
});

test('counts pending requests over a WebSocket, and releases them when it closes [SEC-D18]', async t => {
	const gateway = await startGateway(t, {tokens, servers, limits: {clientRequests: 5}});
	const connect = async (): Promise<WebSocket> => {
		const url = new URL('/mcp/puppet', gateway.base.href.replace('http', 'ws'));
		const socket = new WebSocket(url, 'mcp', {headers: a});
		t.teardown(() => socket.terminate());
		await once(socket, 'open');
		return socket;
	};
	const call = async (
		socket: WebSocket,
		message: object,
	): Promise<{error?: {code: number; message: string}}> => {
		socket.send(JSON.stringify({jsonrpc: '2.0', ...message}));
		return JSON.parse(String((await once(socket, 'message'))[0]));
	};
	const first = await connect();
	await call(first, {id: 'first', method: 'initialize', params: opening});
	first.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
	for (let id = 1; id <= 5; id++) first.send(JSON.stringify({jsonrpc: '2.0', id, method: 'hold'}));
	const {error} = await call(first, ping);
	t.is(error?.code, -31003);
	t.regex(error?.message ?? '', /limits\.clientRequests/);
	const second = await connect();
	t.is((await call(second, {id: 'first', method: 'initialize', params: opening})).error?.code, -31003);
	t.is((await (await gateway.open('puppet', b)).post(ping)).status, 200);
	first.terminate();
	await until(async () => !(await call(second, {id: 'again', method: 'initialize', params: opening})).error);
	t.pass();
});

test('does not count canceled requests [SEC-D18]', async t => {
	const gateway = await startGateway(t, {tokens, servers, limits: {clientRequests: 3}});
	const session = await gateway.open('puppet', a);
	for (let round = 0; round < 5; round++) {
		const pending = [1, 2].map(id => session.post({id: `${round}-${id}`, method: 'hold'}));
		for (const id of [1, 2]) {
			const params = {requestId: `${round}-${id}`};
			await until(
				async () =>
					(await session.post({method: 'notifications/cancelled', params})).status === 202 &&
					(await Promise.race([pending[id - 1], Promise.resolve(undefined)])) !== undefined,
			);
		}
		await Promise.all(pending);
	}
	t.is((await session.post(ping)).status, 200);
});

test('applies no quota to a single principal, or if it is 0 [SEC-D18]', async t => {
	const noQuotas = {clientSessions: 0, clientRuns: 0, clientRequests: 0};
	for (const config of [{}, {tokens: [tokens[0]]}, {tokens, limits: {sessions: 4, ...noQuotas}}]) {
		const gateway = await startGateway(t, {servers, limits: {sessions: 4}, ...config});
		const sessions = [];
		for (let count = 0; count < 4; count++) sessions.push(await gateway.open('puppet', a));
		for (const session of sessions) t.is((await session.post(ping)).status, 200);
	}
});

const command = {
	interpreted: 'for n in range(1):\n  wix.slow()',
	plain: 'wix.slow()',
};
const quick = {
	interpreted: 'total = 0\nfor n in range(4):\n  total += n\ntotal',
	plain: 'wix.search(query="x")',
};

for (const kind of ['interpreted', 'plain'] as const)
	test(`a client that fills its slots of ${kind} runs does not block others [SEC-D18]`, async t => {
		const gateway = await startGateway(t, {
			tokens,
			servers: {wix: {...shop('wix'), timeout: 0}},
			runTimeout: '10m',
		});
		const session = await gateway.open('', a);
		const run = (text: string) => ({method: 'tools/call', params: {name: 'run', arguments: {command: text}}});
		const count = 140;
		// Only rejections are collected. Other programs run or stay queued until the gateway stops.
		const rejections: string[] = [];
		for (let id = 0; id < count; id++)
			void session.post({id, ...run(command[kind])}).then(
				({text}) => rejections.push(text),
				() => {},
			);
		// The queue takes 16 programs of one client, half of its 32 slots. All others are rejected or running.
		const running = kind === 'plain' ? 32 : undefined;
		await until(() =>
			running === undefined ? rejections.length > 0 : rejections.length === count - running - 16,
		);
		const other = await gateway.open('', b);
		const {result} = await other.request('b', 'tools/call', run(quick[kind]).params);
		t.like(result, {isError: false});
		t.true(rejections.length < count);
		for (const text of rejections)
			t.regex(text, /"type":"Busy".*limits\.clientRuns|limits\.clientRuns.*"type":"Busy"/s);
	});
