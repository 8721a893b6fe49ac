import {randomBytes} from 'node:crypto';
import {createConnection} from 'node:net';
import test from 'ava';
import type {MessageOrigin} from '../../../lib/core/envelope.js';
import {Valve} from '../../../lib/core/valve.js';
import {until} from '../../helpers/pipeline.js';
import {connecting, plain, serving} from './websocket-peers.js';

const message = (id: number, size = 100): string =>
	`{ "jsonrpc":"2.0", "id":${id}.0, "method":"é\u2028${randomBytes(size).toString('hex')}" }`;

test('messages pass both ways as the bytes that they are, in order, a frame each [A13]', async t => {
	const {url, first} = await serving(t);
	const client = connecting(t, url);
	const [there, back] = [0, 100].map(from => Array.from({length: 50}, (_, id) => message(from + id)));
	for (const text of there ?? []) client.say(text);
	const server = await first();
	for (const text of back ?? []) server.say(text);
	await until(() => server.heard.length === 50 && client.heard.length === 50);
	t.deepEqual(server.texts(), there);
	t.deepEqual(client.texts(), back);
});

test('a message of 8 MiB passes [A3]', async t => {
	const {url, first} = await serving(t);
	const client = connecting(t, url);
	const text = message(1, 4 * 2 ** 20);
	client.say(text);
	const server = await first();
	await until(() => server.heard.length === 1);
	t.true(server.texts()[0] === text);
	t.is(server.heard[0]?.head.id, '1.0');
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

/** A frame, with a mask that changes nothing. */
const frame = (flags: number, part: Buffer): Buffer =>
	Buffer.concat([Buffer.from([flags, 0x80 | part.length, 0, 0, 0, 0]), part]);

test('frames in single bytes, and a message in many frames, are whole messages [A1]', async t => {
	const {url, first} = await serving(t);
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
	const server = await first();
	await until(() => server.heard.length === 2);
	t.deepEqual(server.texts(), [text, text]);
});

test('frames that come together with the request to change the protocol are heard', async t => {
	const {url, first} = await serving(t);
	const socket = createConnection(Number(url.port), '127.0.0.1');
	t.teardown(() => socket.destroy());
	socket.write(Buffer.concat([Buffer.from(handshake), frame(0x81, Buffer.from('{"id":1}'))]));
	const server = await first();
	await until(() => server.heard.length === 1);
	t.deepEqual(server.texts(), ['{"id":1}']);
});

test('the protocol is mcp where that is offered, and nothing is compressed', async t => {
	const {url} = await serving(t);
	const both = await plain(t, url, ['other', 'mcp']);
	t.is(both.protocol, 'mcp');
	t.is(both.extensions, '');
	const none = await plain(t, url, []);
	t.is(none.readyState, none.OPEN);
	t.is(none.protocol, '');
});

test('a request that is no handshake is refused, and the next one is fine', async t => {
	const {url, clients} = await serving(t);
	const socket = createConnection(Number(url.port), '127.0.0.1');
	socket.write('GET /mcp HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
	const answer = await new Promise<Buffer>(resolve => socket.once('data', resolve));
	t.regex(String(answer), /^HTTP\/1\.1 400/);
	await plain(t, url);
	await until(() => clients.length === 1);
});

test('headers go with the request, and messages of a client say what it came with', async t => {
	const {url, requests, first} = await serving(t, {headers: {authorization: 'Bearer a'}});
	const client = connecting(t, url, {headers: () => ({authorization: 'Bearer a'})});
	client.say('{"id":1}');
	const server = await first();
	await until(() => server.heard.length === 1);
	t.is(requests[0]?.headers.authorization, 'Bearer a');
	t.is(requests[0]?.headers['sec-websocket-protocol'], 'mcp');
	t.deepEqual(server.heard[0]?.origin.headers, {authorization: 'Bearer a'});
});

for (const [what, data, binary] of [
	['no JSON', Buffer.from('hello'), false],
	['empty', Buffer.from(''), false],
	['no UTF-8', Buffer.from('{"jsonrpc":"2.0","method":"\xff"}', 'latin1'), false],
	['binary', Buffer.from('{"jsonrpc":"2.0","method":"a"}'), true],
] as const)
	test(`a frame that is ${what} is a bad message, and the next one is fine [A6]`, async t => {
		const {url, first} = await serving(t);
		const socket = await plain(t, url);
		socket.send(data, {binary});
		socket.send('{"jsonrpc":"2.0",\n"method":"b"}');
		const server = await first();
		await until(() => server.heard.length === 2);
		t.is(server.heard[0]?.head.flaw, 'not JSON');
		t.is(server.texts()[1], '{"jsonrpc":"2.0", "method":"b"}');
	});

test('a peer whose messages cannot be taken is not read on [F1]', async t => {
	const {url, first, clients} = await serving(t);
	const client = connecting(t, url);
	client.say('{"id":0}');
	const server = await first();
	await until(() => server.heard.length === 1);
	const open = server.heard[0]?.origin.valve.shut();
	const origin: MessageOrigin = {name: 'x', valve: new Valve()};
	let sent = 0;
	// How much the system itself takes is its own affair, and differs.
	while (origin.valve.isOpen && sent < 1000) client.say(message(++sent, 50_000), origin);
	t.false(origin.valve.isOpen);
	// So many turns are enough to read all of it, as the last lines of this test do.
	const other = connecting(t, url);
	for (let count = 1; count <= 20; count++) {
		other.say('{"id":1}');
		await until(() => clients[1]?.heard.length === count);
	}
	t.true(server.heard.length <= 3, `${server.heard.length}`);
	open?.();
	await until(() => server.heard.length === sent + 1);
	await until(() => origin.valve.isOpen);
});

test('whoever floods a peer that does not read is stopped at a bound, and goes on when it reads [F1]', async t => {
	const {url, first} = await serving(t);
	const socket = await plain(t, url);
	socket.pause();
	const server = await first();
	const [origin, other]: MessageOrigin[] = ['a', 'b'].map(name => ({name, valve: new Valve()}));
	let sent = 0;
	await until(() => {
		for (let count = 0; count < 10 && origin?.valve.isOpen; count++, sent++)
			server.say(message(sent, 50_000), origin);
		return origin?.valve.isOpen === false;
	});
	t.true(other?.valve.isOpen);
	let heard = 0;
	socket.on('message', () => heard++);
	socket.resume();
	await until(() => origin?.valve.isOpen === true && heard === sent);
	t.pass();
});

test('a peer that is gone without having read lets whoever was stopped go on [F1]', async t => {
	const {url, first} = await serving(t);
	const socket = await plain(t, url);
	socket.pause();
	const server = await first();
	const origin: MessageOrigin = {name: 'a', valve: new Valve()};
	await until(() => {
		for (let count = 0; count < 10 && origin.valve.isOpen; count++) server.say(message(1, 50_000), origin);
		return !origin.valve.isOpen;
	});
	socket.terminate();
	await until(() => origin.valve.isOpen);
	await server.endpoint.disconnected;
	t.true(server.isOver());
});
