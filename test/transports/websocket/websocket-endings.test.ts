import {createServer} from 'node:net';
import test from 'ava';
import {WebSocketServer} from 'ws';
import {Envelope} from '../../../lib/core/envelope.js';
import {acceptWebSocket, webSocketEndpoint} from '../../../lib/transports/websocket/websocket.js';
import {until} from '../../helpers/pipeline.js';
import {connecting, listening, plain, serving, upgrading} from './websocket-peers.js';

const request = '{"jsonrpc":"2.0","id":7,"method":"a"}';

test('a client that closes is gone, and its messages end [D10]', async t => {
	const {url, first} = await serving(t);
	const socket = await plain(t, url);
	const server = await first();
	socket.close(1000);
	await server.endpoint.disconnected;
	t.is(await server.ended(), undefined);
	server.say('{"id":1}');
});

test('a client that vanishes is gone, and its messages end [D10]', async t => {
	const {url, first} = await serving(t);
	const socket = await plain(t, url);
	const server = await first();
	socket.terminate();
	t.is(await server.ended(), undefined);
});

test('a server that closes fails, with its code and reason [D8]', async t => {
	const {url, first} = await serving(t);
	const client = connecting(t, url);
	const server = await first();
	server.endpoint.outgoing.error(new Error('x'));
	const error = await client.ended();
	t.is(error?.code, 'ERR_UPSTREAM_UNREACHABLE');
	t.regex(error?.message ?? '', /closed with code 1011/);
	await client.endpoint.disconnected;
});

test('the reason that a server gives cannot forge a line of the log [D8]', async t => {
	const url = await upgrading(t, (request, socket, head) => {
		void acceptWebSocket(request, socket, head).then(accepted => {
			accepted?.resume();
			accepted?.close(4000, 'so\nlong\u001b');
		});
	});
	const error = await connecting(t, url).ended();
	t.regex(error?.message ?? '', /code 4000: so\\x0along\\x1b\.$/);
});

test('a server that says that it closes, and does not, is not waited for long [D8]', async t => {
	const url = await upgrading(t, (request, socket, head) => {
		// It does not read that the client agrees.
		void acceptWebSocket(request, socket, head).then(accepted => accepted?.close(4000));
	});
	const client = connecting(t, url);
	t.regex((await client.ended())?.message ?? '', /code 4000/);
	await client.endpoint.disconnected;
});

test('a server that vanishes fails [D8]', async t => {
	const url = await upgrading(t, (request, socket, head) => {
		void acceptWebSocket(request, socket, head).then(() => socket.destroy());
	});
	const error = await connecting(t, url).ended();
	t.is(error?.code, 'ERR_UPSTREAM_UNREACHABLE');
});

for (const from of ['client', 'server'] as const)
	test(`a message over the limit from a ${from} fails, and ends the connection with 1009 [A2]`, async t => {
		const {url, first} = await serving(t, {maxBytes: from === 'client' ? 1000 : 10_000});
		const long = `{"jsonrpc":"2.0","id":1,"result":"${'x'.repeat(2000)}"}`;
		const client = connecting(t, url, {maxBytes: 1000});
		const server = await first();
		const [sender, receiver] = from === 'client' ? [client, server] : [server, client];
		sender.say(long);
		const error = await receiver.ended();
		t.is(error?.code, 'ERR_MESSAGE_TOO_LARGE');
		t.regex(error?.message ?? '', /more than 1000 bytes/);
		if (from === 'client') t.regex((await client.ended())?.message ?? '', /code 1009/);
		await receiver.endpoint.disconnected;
	});

test('a server that refuses the connection fails all that waits, with all that it said [D5]', async t => {
	const url = await upgrading(t, (_request, socket) => {
		socket.end(
			'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno',
		);
	});
	const client = connecting(t, url);
	client.say(request);
	client.say('{"jsonrpc":"2.0","method":"n"}');
	const error = await client.ended();
	t.regex(error?.message ?? '', /status 401/);
	t.is(client.heard.length, 1);
	t.like(client.heard[0]?.body, {id: 7, error: {code: -31_001, data: {status: 401}}});
	t.like(client.heard[0]?.origin.errorReply, {status: 401, body: Buffer.from('no')});
	t.is(client.heard[0]?.origin.errorReply?.headers['www-authenticate'], 'Bearer');
	t.false(error?.sentence.includes('secret'));
});

test('a redirect is not followed [D6]', async t => {
	let asked = 0;
	const url = await upgrading(t, (_request, socket) => {
		asked++;
		socket.end('HTTP/1.1 302 Found\r\nLocation: ws://127.0.0.1:1/x\r\nContent-Length: 0\r\n\r\n');
	});
	const error = await connecting(t, url).ended();
	t.regex(
		error?.message ?? '',
		/status 302, a redirect to ws:\/\/127\.0\.0\.1:1; redirects of WebSockets are not followed/,
	);
	t.is(asked, 1);
});

test('nobody there is an error [D1]', async t => {
	const client = connecting(t, new URL('ws://127.0.0.1:1/'));
	client.say(request);
	t.is((await client.ended())?.code, 'ERR_UPSTREAM_UNREACHABLE');
	await client.endpoint.disconnected;
});

test('a server that does not answer the handshake is not waited for [D2]', async t => {
	const silent = createServer(() => {});
	await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve));
	t.teardown(() => silent.close());
	const address = silent.address();
	const port = typeof address === 'object' ? address?.port : 0;
	const client = connecting(t, new URL(`ws://127.0.0.1:${port}/`), {handshakeMs: 50});
	t.regex((await client.ended())?.message ?? '', /handshake has timed out/);
});

test('a server that does not choose mcp is refused', async t => {
	const url = await upgrading(t, (request, socket, head) => {
		const server = new WebSocketServer({noServer: true, handleProtocols: () => false});
		server.handleUpgrade(request, socket, head, () => {});
	});
	t.regex((await connecting(t, url).ended())?.message ?? '', /no subprotocol/);
});

test('a peer that answers no pings is dead [D13]', async t => {
	const url = await upgrading(t, (request, socket, head) => {
		// Reads nothing from the moment on that the connection is there, and so answers nothing.
		void acceptWebSocket(request, socket, head);
	});
	const client = connecting(t, url, {pingMs: 20});
	t.regex((await client.ended())?.message ?? '', /did not answer 2 pings/);
	await client.endpoint.disconnected;
});

test('a silent peer that answers pings lives, and so does one that is not read [D9]', async t => {
	const {url, first, pings} = await serving(t);
	const client = connecting(t, url, {pingMs: 5});
	const server = await first();
	server.say('{"id":1}');
	await until(() => client.heard.length === 1);
	const open = client.heard[0]?.origin.valve.shut();
	server.say('{"id":2}');
	await until(() => client.heard.length === 2);
	// Another one that asks as often tells the time: ten times as long as a dead one would have.
	connecting(t, url, {pingMs: 5});
	const before = pings();
	await until(() => pings() >= before + 20);
	t.false(client.isOver());
	open?.();
	server.say('{"id":3}');
	await until(() => client.heard.length === 3);
	t.false(client.isOver());
});

test('closing a client ends the connection, and completes', async t => {
	const {url, first} = await serving(t);
	const client = connecting(t, url);
	const server = await first();
	await client.endpoint.close();
	t.is(await client.ended(), undefined);
	t.is(await server.ended(), undefined);
});

test('closing a client before the connection is there is no failure', async t => {
	const {url} = await serving(t);
	const client = connecting(t, url);
	await client.endpoint.close();
	t.is(await client.ended(), undefined);
});

test('closing does not wait for a peer that does not agree', async t => {
	const url = await upgrading(t, (request, socket, head) => {
		void acceptWebSocket(request, socket, head);
	});
	const client = connecting(t, url);
	client.say(request);
	await client.endpoint.close();
	t.is(await client.ended(), undefined);
});

test('a client is told by 1000 when there is no more to come, and an upstream is not', async t => {
	const {url, first, clients} = await serving(t);
	const socket = await plain(t, url);
	const server = await first();
	const code = new Promise(resolve => socket.once('close', resolve));
	server.endpoint.outgoing.next(Envelope.fromText('{"last":1}'));
	const last = new Promise(resolve => socket.once('message', resolve));
	server.endpoint.outgoing.complete();
	t.is(String(await last), '{"last":1}');
	t.is(await code, 1000);
	const client = connecting(t, url);
	client.endpoint.outgoing.complete();
	client.say('{"id":1}');
	await until(() => clients[1]?.heard.length === 1);
	clients[1]?.say('{"id":1}');
	await until(() => client.heard.length === 1);
});

test('a socket that was closed before anybody listened has nothing to say', async t => {
	const {url} = await serving(t);
	const socket = await plain(t, url);
	socket.terminate();
	await new Promise(resolve => socket.once('close', resolve));
	const late = listening(webSocketEndpoint(socket, {name: 'client'}));
	await late.endpoint.disconnected;
	t.is(await late.ended(), undefined);
});
