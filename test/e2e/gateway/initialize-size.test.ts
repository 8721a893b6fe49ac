import {once} from 'node:events';
import test from 'ava';
import {WebSocket} from 'ws';
import {type Message, opening} from '../../helpers/bridge.js';
import {EventSource} from '../../helpers/event-source.js';
import {messageIn, program, type RunningGateway, startGateway} from '../../helpers/gateway.js';
import {peakMiB} from '../../helpers/program.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const MODERN = '2026-07-28';
const PREFIX = 'io.modelcontextprotocol/';
const tooLarge = {code: -31007, data: {source: 'bridge', kind: 'too_large', limit: 64 * KIB}};

/** An `initialize` with this many additional characters. */
const initialize = (length: number): Message => ({
	id: 'first',
	method: 'initialize',
	params: {...opening, capabilities: {experimental: {x: {text: 'x'.repeat(length)}}}},
});

/** A stateless request whose client info has this many additional characters. */
const stateless = (length: number): Message => ({
	id: 1,
	method: 'tools/list',
	params: {
		_meta: {
			[`${PREFIX}protocolVersion`]: MODERN,
			[`${PREFIX}clientInfo`]: {name: 'x'.repeat(length), version: '1'},
			[`${PREFIX}clientCapabilities`]: {},
		},
	},
});
const statelessHeaders = {'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list'};

const sessionsOf = async (gateway: RunningGateway): Promise<number> =>
	JSON.parse((await gateway.fetch('/status')).text).sessions;

const start = (t: Parameters<typeof startGateway>[0]) =>
	startGateway(t, {servers: {puppet: program('puppet'), box: program('toolbox')}});

test('rejects 100 giant initialize requests, does not keep them and evicts no session [SEC-D5]', async t => {
	const gateway = await startGateway(t, {limits: {sessions: 2}, servers: {puppet: program('puppet')}});
	const session = await gateway.open('puppet');
	const giant = initialize(16 * MIB);
	const statuses = new Set<number>();
	// The first giant body grows the heap once.
	await gateway.post('puppet', giant);
	const before = peakMiB(gateway.running.pid);
	for (let count = 0; count < 100; count++) statuses.add((await gateway.post('puppet', giant)).status);
	t.deepEqual([...statuses], [413]);
	const growth = peakMiB(gateway.running.pid) - before;
	t.log(`${Math.round(growth)} MiB of growth`);
	t.true(growth < 500, `${growth} MiB more`);
	t.like(messageIn(await gateway.post('puppet', initialize(65 * KIB))), {id: 'first', error: tooLarge});
	t.is(await sessionsOf(gateway), 1);
	t.is((await session.post({id: 1, method: 'pid'})).status, 200);
});

test('rejects giant client info of stateless requests and does not keep it [SEC-D5]', async t => {
	const gateway = await start(t);
	const giant = stateless(8 * MIB);
	await gateway.post('box', giant, statelessHeaders);
	const before = peakMiB(gateway.running.pid);
	for (let count = 0; count < 30; count++) {
		const reply = await gateway.post('box', giant, statelessHeaders);
		t.is(reply.status, 413);
		t.like(messageIn(reply), {id: 1, error: tooLarge});
	}
	const growth = peakMiB(gateway.running.pid) - before;
	t.true(growth < 300, `${growth} MiB more`);
	t.is(await sessionsOf(gateway), 0);
});

test('accepts an initialize and client info of 60 KiB [SEC-D5]', async t => {
	const gateway = await start(t);
	for (const service of ['box', '']) {
		const first = await gateway.post(service, initialize(60 * KIB));
		t.is(first.status, 200);
		t.truthy(messageIn(first).result);
	}
	for (const service of ['box', '']) {
		const list = await gateway.post(service, stateless(60 * KIB), statelessHeaders);
		t.is(list.status, 200, service);
		t.true(Array.isArray((messageIn(list).result as {tools: unknown}).tools));
	}
});

test('rejects a giant initialize over WebSocket and HTTP+SSE and at /mcp [SEC-D5]', async t => {
	const gateway = await start(t);
	t.like(messageIn(await gateway.post('', initialize(65 * KIB))), {id: 'first', error: tooLarge});
	for (const path of ['/mcp/puppet', '/mcp']) {
		const socket = new WebSocket(new URL(path, gateway.base.href.replace('http', 'ws')), 'mcp');
		t.teardown(() => socket.terminate());
		await once(socket, 'open');
		for (const message of [initialize(65 * KIB), stateless(65 * KIB), initialize(60 * KIB)]) {
			socket.send(JSON.stringify({jsonrpc: '2.0', ...message}));
			const [data] = await once(socket, 'message');
			const reply = JSON.parse(String(data)) as Message;
			t.is(reply.id, message.id);
			if (JSON.stringify(message).length > 64 * KIB) t.like(reply.error, tooLarge);
			else t.truthy(reply.result);
		}
	}
	const controller = new AbortController();
	t.teardown(() => controller.abort());
	const events = new EventSource(
		await fetch(new URL('/mcp/puppet/sse', gateway.base), {
			signal: controller.signal,
			headers: {accept: 'text/event-stream'},
		}),
	);
	await events.more();
	const path = /^data: ?(.*)$/m.exec(events.text)?.[1] ?? '';
	const sent = await gateway.fetch(path, {
		method: 'POST',
		headers: {'content-type': 'application/json'},
		body: JSON.stringify({jsonrpc: '2.0', ...initialize(65 * KIB)}),
	});
	t.is(sent.status, 202);
	while (!/-31007/.test(events.text)) t.true(await events.more());
});

test('rejects ids, methods, progress tokens and settings that would be kept in full [SEC-D5]', async t => {
	const gateway = await start(t);
	const session = await gateway.open('puppet');
	const long = 'x'.repeat(5000);
	const requests = [
		{id: long, method: 'ping'},
		{id: 1, method: long},
		{id: 2, method: 'echo', params: {_meta: {progressToken: long}}},
		{id: 3, method: 'logging/setLevel', params: {level: `${long}${long}`}},
		{id: 4, method: 'resources/subscribe', params: {uri: `x:${long}${long}`}},
	];
	for (const request of requests) {
		const reply = await session.post(request);
		t.is(reply.status, 413, String(request.id).slice(0, 10));
		t.like(messageIn(reply), {id: request.id, error: {code: -31007}});
	}
	t.deepEqual((await session.request(5, 'echo', {a: 1})).result, {a: 1});
});

const initialized = (length: number): Message => ({
	method: 'notifications/initialized',
	params: {_meta: {text: 'x'.repeat(length)}},
});

test('rejects a giant notifications/initialized, which a session would keep [SEC-D5]', async t => {
	const gateway = await start(t);
	const sessions = [];
	for (let count = 0; count < 10; count++) sessions.push(await gateway.open('puppet'));
	await sessions[0]?.post(initialized(32 * MIB));
	const before = peakMiB(gateway.running.pid);
	for (const session of sessions) {
		const reply = await session.post(initialized(32 * MIB));
		t.is(reply.status, 413);
		t.like(messageIn(reply), {error: {code: -31007}});
		t.is((await session.post({id: 1, method: 'pid'})).status, 200);
	}
	const growth = peakMiB(gateway.running.pid) - before;
	t.true(growth < 200, `${growth} MiB more`);
	t.is((await sessions[0]?.post(initialized(4 * KIB)))?.status, 202);
});

test('rejects a giant notifications/initialized over WebSocket before initialize [SEC-D5]', async t => {
	const gateway = await start(t);
	const socket = new WebSocket(new URL('/mcp/puppet', gateway.base.href.replace('http', 'ws')), 'mcp');
	t.teardown(() => socket.terminate());
	await once(socket, 'open');
	socket.send(JSON.stringify({jsonrpc: '2.0', ...initialized(MIB)}));
	const [data] = await once(socket, 'message');
	t.like(JSON.parse(String(data)), {error: {code: -31007}});
	socket.send(JSON.stringify({jsonrpc: '2.0', ...initialize(0)}));
	const [response] = await once(socket, 'message');
	t.truthy(JSON.parse(String(response)).result);
});

const tooComplex = {
	code: -31007,
	data: {source: 'bridge', kind: 'too_large', limit: 1_000_000, keyLimit: 16_383},
};

test('rejects a request that would take seconds to parse, with and without a session [SEC-D11]', async t => {
	const gateway = await start(t);
	const session = await gateway.open('puppet');
	const {params, ...list} = stateless(0);
	for (const args of [{list: new Array(1_500_000).fill({})}, {['k'.repeat(20_000)]: 1}]) {
		const request = {...list, params: {...(params as object), arguments: args}};
		for (const reply of [await gateway.post('box', request, statelessHeaders), await session.post(request)]) {
			t.is(reply.status, 413);
			t.like(messageIn(reply), {id: 1, error: tooComplex});
		}
	}
	t.deepEqual((await session.request(2, 'echo', {a: 1})).result, {a: 1});
	t.is(await sessionsOf(gateway), 1);
});

test('rejects an initialize without an id, and starts no child for it [SEC-D16]', async t => {
	const gateway = await start(t);
	const {id: _, ...notification} = initialize(0);
	const reply = await gateway.post('puppet', notification);
	t.is(reply.status, 400);
	t.like(messageIn(reply), {error: {code: -32600}});
	t.is(await sessionsOf(gateway), 0);
});
