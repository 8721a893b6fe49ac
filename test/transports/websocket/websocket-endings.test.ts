import {createServer} from 'node:net';
import test from 'ava';
import {WebSocketServer} from 'ws';
import {Envelope} from '../../../lib/core/envelope.js';
import {acceptWebSocket, webSocketEndpoint} from '../../../lib/transports/websocket/websocket.js';
import {until} from '../../helpers/pipeline.js';
import {collect, connectClient, connectPlain, startServer, startUpgradeServer} from './websocket-peers.js';

const request = '{"jsonrpc":"2.0","id":7,"method":"a"}';

test('completes when a client closes the connection [D10]', async t => {
	const {url, firstClient} = await startServer(t);
	const socket = await connectPlain(t, url);
	const server = await firstClient();
	socket.close(1000);
	await server.endpoint.disconnected;
	t.is(await server.ended(), undefined);
	server.send('{"id":1}');
});

test('completes when the connection of a client breaks [D10]', async t => {
	const {url, firstClient} = await startServer(t);
	const socket = await connectPlain(t, url);
	const server = await firstClient();
	socket.terminate();
	t.is(await server.ended(), undefined);
});

test('fails with the close code of an upstream [D8]', async t => {
	const {url, firstClient} = await startServer(t);
	const client = connectClient(t, url);
	const server = await firstClient();
	server.endpoint.outgoing.error(new Error('x'));
	const error = await client.ended();
	t.is(error?.code, 'ERR_UPSTREAM_UNREACHABLE');
	t.regex(error?.message ?? '', /closed with code 1011/);
	await client.endpoint.disconnected;
});

test('escapes control characters in the close reason of an upstream [D8]', async t => {
	const url = await startUpgradeServer(t, (request, socket, head) => {
		void acceptWebSocket(request, socket, head).then(accepted => {
			accepted?.resume();
			accepted?.close(4000, 'so\nlong\u001b');
		});
	});
	const error = await connectClient(t, url).ended();
	t.regex(error?.message ?? '', /code 4000: so\\x0along\\x1b\.$/);
});

test('terminates an upstream that sends a close frame and keeps the connection open [D8]', async t => {
	const url = await startUpgradeServer(t, (request, socket, head) => {
		// The server does not read the close frame of the client.
		void acceptWebSocket(request, socket, head).then(accepted => accepted?.close(4000));
	});
	const client = connectClient(t, url);
	t.regex((await client.ended())?.message ?? '', /code 4000/);
	await client.endpoint.disconnected;
});

test('fails when the connection to an upstream breaks [D8]', async t => {
	const url = await startUpgradeServer(t, (request, socket, head) => {
		void acceptWebSocket(request, socket, head).then(() => socket.destroy());
	});
	const error = await connectClient(t, url).ended();
	t.is(error?.code, 'ERR_UPSTREAM_UNREACHABLE');
});

for (const side of ['client', 'server'] as const)
	test(`fails on a message over the limit from a ${side}, and closes the connection with 1009 [A2]`, async t => {
		const {url, firstClient} = await startServer(t, {maxBytes: side === 'client' ? 1000 : 10_000});
		const long = `{"jsonrpc":"2.0","id":1,"result":"${'x'.repeat(2000)}"}`;
		const client = connectClient(t, url, {maxBytes: 1000});
		const server = await firstClient();
		const [sender, receiver] = side === 'client' ? [client, server] : [server, client];
		sender.send(long);
		const error = await receiver.ended();
		t.is(error?.code, 'ERR_MESSAGE_TOO_LARGE');
		t.regex(error?.message ?? '', /more than 1000 bytes/);
		if (side === 'client') t.regex((await client.ended())?.message ?? '', /code 1009/);
		await receiver.endpoint.disconnected;
	});

test('fails queued requests with the HTTP error of a rejected handshake [D5]', async t => {
	const url = await startUpgradeServer(t, (_request, socket) => {
		socket.end(
			'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno',
		);
	});
	const client = connectClient(t, url);
	client.send(request);
	client.send('{"jsonrpc":"2.0","method":"n"}');
	const error = await client.ended();
	t.regex(error?.message ?? '', /status 401/);
	t.is(client.received.length, 1);
	t.like(client.received[0]?.body, {id: 7, error: {code: -31_001, data: {status: 401}}});
	t.like(client.received[0]?.origin.errorReply, {status: 401, body: Buffer.from('no')});
	t.is(client.received[0]?.origin.errorReply?.headers['www-authenticate'], 'Bearer');
	t.false(error?.sentence.includes('secret'));
});

test('does not follow redirects [D6]', async t => {
	let handshakes = 0;
	const url = await startUpgradeServer(t, (_request, socket) => {
		handshakes++;
		socket.end('HTTP/1.1 302 Found\r\nLocation: ws://127.0.0.1:1/x\r\nContent-Length: 0\r\n\r\n');
	});
	const error = await connectClient(t, url).ended();
	t.regex(
		error?.message ?? '',
		/status 302, a redirect to ws:\/\/127\.0\.0\.1:1; redirects of WebSockets are not followed/,
	);
	t.is(handshakes, 1);
});

test('fails when the connection is refused [D1]', async t => {
	const client = connectClient(t, new URL('ws://127.0.0.1:1/'));
	client.send(request);
	t.is((await client.ended())?.code, 'ERR_UPSTREAM_UNREACHABLE');
	await client.endpoint.disconnected;
});

test('times out a handshake without a response [D2]', async t => {
	const silent = createServer(() => {});
	await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve));
	t.teardown(() => silent.close());
	const address = silent.address();
	const port = typeof address === 'object' ? address?.port : 0;
	const client = connectClient(t, new URL(`ws://127.0.0.1:${port}/`), {handshakeMs: 50});
	t.regex((await client.ended())?.message ?? '', /handshake has timed out/);
});

test('rejects an upstream that does not select the subprotocol mcp', async t => {
	const url = await startUpgradeServer(t, (request, socket, head) => {
		const server = new WebSocketServer({noServer: true, handleProtocols: () => false});
		server.handleUpgrade(request, socket, head, () => {});
	});
	t.regex((await connectClient(t, url).ended())?.message ?? '', /no subprotocol/);
});

test('disconnects a peer that does not respond to pings [D13]', async t => {
	const url = await startUpgradeServer(t, (request, socket, head) => {
		// The server reads nothing after the handshake, so it sends no pongs.
		void acceptWebSocket(request, socket, head);
	});
	const client = connectClient(t, url, {pingMs: 20});
	t.regex((await client.ended())?.message ?? '', /did not respond to 2 pings/);
	await client.endpoint.disconnected;
});

test('keeps an idle peer that responds to pings, and one under backpressure [D9]', async t => {
	const {url, firstClient, pings} = await startServer(t);
	const client = connectClient(t, url, {pingMs: 5});
	const server = await firstClient();
	server.send('{"id":1}');
	await until(() => client.received.length === 1);
	const open = client.received[0]?.origin.valve.shut();
	server.send('{"id":2}');
	await until(() => client.received.length === 2);
	// The pings of a second client measure the time: ten times that after which a dead peer is disconnected.
	connectClient(t, url, {pingMs: 5});
	const before = pings();
	await until(() => pings() >= before + 20);
	t.false(client.isOver());
	open?.();
	server.send('{"id":3}');
	await until(() => client.received.length === 3);
	t.false(client.isOver());
});

test('closes the connection and completes on close', async t => {
	const {url, firstClient} = await startServer(t);
	const client = connectClient(t, url);
	const server = await firstClient();
	await client.endpoint.close();
	t.is(await client.ended(), undefined);
	t.is(await server.ended(), undefined);
});

test('closes without an error before the connection is open', async t => {
	const {url} = await startServer(t);
	const client = connectClient(t, url);
	await client.endpoint.close();
	t.is(await client.ended(), undefined);
});

test('closes in bounded time although the peer sends no close frame', async t => {
	const url = await startUpgradeServer(t, (request, socket, head) => {
		void acceptWebSocket(request, socket, head);
	});
	const client = connectClient(t, url);
	client.send(request);
	await client.endpoint.close();
	t.is(await client.ended(), undefined);
});

test('closes with 1000 when the messages for a client end, but keeps the connection to an upstream', async t => {
	const {url, firstClient, clients} = await startServer(t);
	const socket = await connectPlain(t, url);
	const server = await firstClient();
	const code = new Promise(resolve => socket.once('close', resolve));
	server.endpoint.outgoing.next(Envelope.fromText('{"last":1}'));
	const last = new Promise(resolve => socket.once('message', resolve));
	server.endpoint.outgoing.complete();
	t.is(String(await last), '{"last":1}');
	t.is(await code, 1000);
	const client = connectClient(t, url);
	client.endpoint.outgoing.complete();
	client.send('{"id":1}');
	await until(() => clients[1]?.received.length === 1);
	clients[1]?.send('{"id":1}');
	await until(() => client.received.length === 1);
});

test('completes for a socket that was closed before the endpoint was created', async t => {
	const {url} = await startServer(t);
	const socket = await connectPlain(t, url);
	socket.terminate();
	await new Promise(resolve => socket.once('close', resolve));
	const late = collect(webSocketEndpoint(socket, {name: 'client'}));
	await late.endpoint.disconnected;
	t.is(await late.ended(), undefined);
});
