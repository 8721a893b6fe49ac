import {randomBytes} from 'node:crypto';
import {createConnection} from 'node:net';
import test from 'ava';
import type {MessageOrigin} from '../../../lib/core/envelope.js';
import {Valve} from '../../../lib/core/valve.js';
import {until} from '../../helpers/pipeline.js';
import {connectClient, connectPlain, startServer} from './websocket-peers.js';

const message = (id: number, size = 100): string =>
	`{ "jsonrpc":"2.0", "id":${id}.0, "method":"é\u2028${randomBytes(size).toString('hex')}" }`;

test('preserves messages byte for byte and in order in both directions [A13]', async t => {
	const {url, firstClient} = await startServer(t);
	const client = connectClient(t, url);
	const [toServer, toClient] = [0, 100].map(start =>
		Array.from({length: 50}, (_, id) => message(start + id)),
	);
	for (const text of toServer ?? []) client.send(text);
	const server = await firstClient();
	for (const text of toClient ?? []) server.send(text);
	await until(() => server.received.length === 50 && client.received.length === 50);
	t.deepEqual(server.texts(), toServer);
	t.deepEqual(client.texts(), toClient);
});

test('delivers a message of 8 MiB [A3]', async t => {
	const {url, firstClient} = await startServer(t);
	const client = connectClient(t, url);
	const text = message(1, 4 * 2 ** 20);
	client.send(text);
	const server = await firstClient();
	await until(() => server.received.length === 1);
	t.true(server.texts()[0] === text);
	t.is(server.received[0]?.head.id, '1.0');
});

const handshake = [
	'GET /mcp HTTP/1.1',
	'Host: x',
	'Connection: Upgrade',
	'Upgrade: websocket',
	'Sec-WebSocket-Version: 13',
	'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
	'',
	'',
].join('\r\n');

/** A client frame with an all-zero mask. */
const frame = (flags: number, part: Buffer): Buffer =>
	Buffer.concat([Buffer.from([flags, 0x80 | part.length, 0, 0, 0, 0]), part]);

test('assembles messages from single bytes and from many fragments [A1]', async t => {
	const {url, firstClient} = await startServer(t);
	const socket = createConnection(Number(url.port), '127.0.0.1');
	t.teardown(() => socket.destroy());
	const text = '{"jsonrpc":"2.0","method":"é"}';
	const bytes = Buffer.from(text);
	const parts = [...bytes].map((byte, at) =>
		frame((at === 0 ? 1 : 0) | (at === bytes.length - 1 ? 0x80 : 0), Buffer.of(byte)),
	);
	socket.setNoDelay(true).write(handshake);
	for (const byte of Buffer.concat([frame(0x81, bytes), ...parts])) {
		socket.write(Buffer.of(byte));
		await new Promise(resolve => setImmediate(resolve));
	}
	const server = await firstClient();
	await until(() => server.received.length === 2);
	t.deepEqual(server.texts(), [text, text]);
});

test('receives frames that arrive together with the upgrade request', async t => {
	const {url, firstClient} = await startServer(t);
	const socket = createConnection(Number(url.port), '127.0.0.1');
	t.teardown(() => socket.destroy());
	socket.write(Buffer.concat([Buffer.from(handshake), frame(0x81, Buffer.from('{"id":1}'))]));
	const server = await firstClient();
	await until(() => server.received.length === 1);
	t.deepEqual(server.texts(), ['{"id":1}']);
});

test('selects the subprotocol mcp if it is offered, and disables compression', async t => {
	const {url} = await startServer(t);
	const both = await connectPlain(t, url, ['other', 'mcp']);
	t.is(both.protocol, 'mcp');
	t.is(both.extensions, '');
	const none = await connectPlain(t, url, []);
	t.is(none.readyState, none.OPEN);
	t.is(none.protocol, '');
});

test('rejects an invalid handshake, and accepts the next one', async t => {
	const {url, clients} = await startServer(t);
	const socket = createConnection(Number(url.port), '127.0.0.1');
	socket.write('GET /mcp HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
	const response = await new Promise<Buffer>(resolve => socket.once('data', resolve));
	t.regex(String(response), /^HTTP\/1\.1 400/);
	await connectPlain(t, url);
	await until(() => clients.length === 1);
});

test('sends the configured headers with the handshake, and adds those of a client to its messages', async t => {
	const {url, requests, firstClient} = await startServer(t, {headers: {authorization: 'Bearer a'}});
	const client = connectClient(t, url, {headers: () => ({authorization: 'Bearer a'})});
	client.send('{"id":1}');
	const server = await firstClient();
	await until(() => server.received.length === 1);
	t.is(requests[0]?.headers.authorization, 'Bearer a');
	t.is(requests[0]?.headers['sec-websocket-protocol'], 'mcp');
	t.deepEqual(server.received[0]?.origin.headers, {authorization: 'Bearer a'});
});

for (const [what, data, binary] of [
	['text that is not JSON', Buffer.from('hello'), false],
	['an empty frame', Buffer.from(''), false],
	['text that is not UTF-8', Buffer.from('{"jsonrpc":"2.0","method":"\xff"}', 'latin1'), false],
	['a binary frame', Buffer.from('{"jsonrpc":"2.0","method":"a"}'), true],
] as const)
	test(`marks ${what} as invalid, and accepts the next frame [A6]`, async t => {
		const {url, firstClient} = await startServer(t);
		const socket = await connectPlain(t, url);
		socket.send(data, {binary});
		socket.send('{"jsonrpc":"2.0",\n"method":"b"}');
		const server = await firstClient();
		await until(() => server.received.length === 2);
		t.is(server.received[0]?.head.flaw, 'not JSON');
		t.is(server.texts()[1], '{"jsonrpc":"2.0", "method":"b"}');
	});

test('stops reading a peer under backpressure [F1]', async t => {
	const {url, firstClient, clients} = await startServer(t);
	const client = connectClient(t, url);
	client.send('{"id":0}');
	const server = await firstClient();
	await until(() => server.received.length === 1);
	const open = server.received[0]?.origin.valve.shut();
	const origin: MessageOrigin = {name: 'x', valve: new Valve()};
	let sent = 0;
	// The size of the kernel buffers differs between systems.
	while (origin.valve.isOpen && sent < 1000) client.send(message(++sent, 50_000), origin);
	t.false(origin.valve.isOpen);
	// Without backpressure, this many turns would be enough to read all messages.
	const other = connectClient(t, url);
	for (let count = 1; count <= 20; count++) {
		other.send('{"id":1}');
		await until(() => clients[1]?.received.length === count);
	}
	t.true(server.received.length <= 3, `${server.received.length}`);
	open?.();
	await until(() => server.received.length === sent + 1);
	await until(() => origin.valve.isOpen);
});

test('applies backpressure to the origin that floods a peer, until the peer reads [F1]', async t => {
	const {url, firstClient} = await startServer(t);
	const socket = await connectPlain(t, url);
	socket.pause();
	const server = await firstClient();
	const [origin, other]: MessageOrigin[] = ['a', 'b'].map(name => ({name, valve: new Valve()}));
	let sent = 0;
	await until(() => {
		for (let count = 0; count < 10 && origin?.valve.isOpen; count++, sent++)
			server.send(message(sent, 50_000), origin);
		return origin?.valve.isOpen === false;
	});
	t.true(other?.valve.isOpen);
	let received = 0;
	socket.on('message', () => received++);
	socket.resume();
	await until(() => origin?.valve.isOpen === true && received === sent);
	t.pass();
});

test('opens the valve of an origin when a peer that does not read disconnects [F1]', async t => {
	const {url, firstClient} = await startServer(t);
	const socket = await connectPlain(t, url);
	socket.pause();
	const server = await firstClient();
	const origin: MessageOrigin = {name: 'a', valve: new Valve()};
	await until(() => {
		for (let count = 0; count < 10 && origin.valve.isOpen; count++) server.send(message(1, 50_000), origin);
		return !origin.valve.isOpen;
	});
	socket.terminate();
	await until(() => origin.valve.isOpen);
	await server.endpoint.disconnected;
	t.true(server.isOver());
});
