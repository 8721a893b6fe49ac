import {once} from 'node:events';
import {createConnection, type Socket} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {opening} from '../../helpers/bridge.js';
import {type ClientSession, program, type RunningGateway, startGateway} from '../../helpers/gateway.js';
import {logged, peakMiB, until} from '../../helpers/program.js';
import {common, request} from '../../helpers/raw-requests.js';

const MIB = 2 ** 20;
/** More bytes than the kernel buffers. */
const BIG = 16 * MIB;

/** A client that sends these bytes and reads nothing. `closed` resolves when its connection closes. */
async function silent(t: ExecutionContext, gateway: RunningGateway, ...bytes: readonly (string | Buffer)[]) {
	const socket: Socket = createConnection(gateway.port, '127.0.0.1').on('error', () => {});
	t.teardown(() => socket.destroy());
	const closed = new Promise<void>(resolve => void socket.once('close', () => resolve()));
	await once(socket, 'connect');
	for (const part of bytes) socket.write(part);
	return {socket, closed};
}

const big = (id: number | string, bytes = BIG): string =>
	JSON.stringify({jsonrpc: '2.0', id, method: 'big', params: {bytes}});

const post = ({service, headers}: ClientSession, body: string, accept = common): string =>
	request(
		`POST /mcp/${service}`,
		[...accept, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)],
		body,
	).replace('Connection: close', 'Connection: keep-alive');

const EVENTS = ['Content-Type: application/json', 'Accept: text/event-stream'];

/** A WebSocket frame of a client. Its mask is zero, so that the payload is unchanged. */
function frame(text: string): Buffer {
	const payload = Buffer.from(text);
	const head = Buffer.alloc(8);
	head.writeUInt8(0x81);
	head.writeUInt8(0x80 + 126, 1);
	head.writeUInt16BE(payload.length, 2);
	return Buffer.concat([head, payload]);
}

const UPGRADE =
	'GET /mcp/puppet HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
const initialize = JSON.stringify({jsonrpc: '2.0', id: 'first', method: 'initialize', params: opening});

const notice = (bytes: number): string =>
	Buffer.from(
		`${JSON.stringify({jsonrpc: '2.0', method: 'notifications/message', params: {level: 'info', data: 'x'.repeat(bytes)}})}\n`,
	).toString('base64');

const unreadKinds: {
	readonly [name: string]: (
		t: ExecutionContext,
		gateway: RunningGateway,
	) => Promise<{readonly socket: Socket; readonly closed: Promise<void>}>;
} = {
	'a response as JSON': async (t, gateway) => silent(t, gateway, post(await gateway.open('puppet'), big(1))),
	'a response as SSE': async (t, gateway) =>
		silent(t, gateway, post(await gateway.open('puppet'), big(1), EVENTS)),
	'responses to pipelined requests': async (t, gateway) => {
		const session = await gateway.open('puppet');
		return silent(t, gateway, post(session, big(1)) + post(session, big(2)));
	},
	'a listening stream': async (t, gateway) => {
		const session = await gateway.open('puppet');
		const head = `Accept: text/event-stream\r\nMcp-Session-Id: ${session.headers['mcp-session-id']}`;
		const client = await silent(t, gateway, `GET /mcp/puppet HTTP/1.1\r\nHost: localhost\r\n${head}\r\n\r\n`);
		await once(client.socket, 'readable');
		await session.post({method: 'raw', params: {base64: notice(BIG)}});
		return client;
	},
	'the stream of a 2024-11-05 client': async (t, gateway) => {
		const client = await silent(
			t,
			gateway,
			'GET /mcp/puppet/sse HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n',
		);
		const [head] = (await once(client.socket, 'data')) as [Buffer];
		client.socket.pause();
		let text = String(head);
		while (!text.includes('sessionId='))
			text += String(((await once(client.socket.resume(), 'data')) as [Buffer])[0]);
		client.socket.pause();
		const path = /data: (\S+)/.exec(text)?.[1] ?? '';
		const send = (body: string) =>
			gateway.fetch(path, {method: 'POST', headers: {'content-type': 'application/json'}, body});
		await send(initialize);
		await send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
		await send(big(2));
		return client;
	},
	'a WebSocket': async (t, gateway) =>
		silent(
			t,
			gateway,
			UPGRADE,
			frame(initialize),
			frame('{"jsonrpc":"2.0","method":"notifications/initialized"}'),
			frame(big(2)),
		),
};

for (const [name, begin] of Object.entries(unreadKinds))
	test.serial(`closes the connection of a client that reads nothing of ${name} [SEC-D15]`, async t => {
		const limits = {unreadFor: '1s'};
		const gateway = await startGateway(t, {servers: {puppet: program('puppet')}, limits});
		const {socket, closed} = await begin(t, gateway);
		await gateway.running.says(/"event":"http\.unread".*read nothing for 1 s/);
		// A client that does not read does not notice that the connection closed.
		socket.resume();
		await closed;
		t.is((await (await gateway.open('puppet')).post({id: 1, method: 'pid'})).status, 200);
	});

test.serial('bounds the unread responses of all clients, and serves clients that read [SEC-D15]', async t => {
	const limits = {unread: '64MiB', message: '32MiB'};
	const gateway = await startGateway(t, {servers: {puppet: {...program('puppet'), shared: true}}, limits});
	const good = await gateway.open('puppet');
	t.is((await good.post(JSON.parse(big(0)))).text.length > BIG, true);
	const before = peakMiB(gateway.running.pid);
	const clients = [];
	for (let at = 0; at < 24; at++) {
		const session = await gateway.open('puppet');
		clients.push(await silent(t, gateway, post(session, big(1))));
		// Meanwhile, a client that reads receives a large response completely.
		if (at % 8 === 7) t.true((await good.post(JSON.parse(big(at)))).text.length > BIG);
	}
	await until(() => logged(gateway.running, 'http.unread').length >= 16);
	t.like(logged(gateway.running, 'http.unread')[0], {
		reason: 'all clients together have more than 64 MiB unread (limits.unread)',
	});
	for (const {socket} of clients) socket.resume();
	await Promise.race(clients.map(({closed}) => closed));
	const growth = peakMiB(gateway.running.pid) - before;
	t.true(growth < 200, `${growth} MiB, of ${24 * 16} MiB requested`);
});

test.serial('keeps the connection of a client that reads slowly [SEC-D15]', async t => {
	const gateway = await startGateway(t, {
		servers: {puppet: program('puppet')},
		limits: {unreadFor: '20s'},
	});
	// The kernel accepts more data only after about a second of reading. The limit leaves a wide margin.
	const long = 48 * MIB;
	const {socket} = await silent(t, gateway, post(await gateway.open('puppet'), big(1, long)));
	let read = 0;
	socket.on('data', chunk => {
		read += chunk.length;
		socket.pause();
		setTimeout(() => socket.resume(), 30);
	});
	await until(() => read > long || socket.destroyed, 150_000);
	t.true(read > long, `${read}`);
	t.deepEqual(logged(gateway.running, 'http.unread'), []);
});
