import type {ServerResponse} from 'node:http';
import {setTimeout as sleep} from 'node:timers/promises';
import test from 'ava';
import {Envelope, type MessageOrigin} from '../../../lib/core/envelope.js';
import {Valve} from '../../../lib/core/valve.js';
import {until} from '../../helpers/pipeline.js';
import {start, stream} from './sse-upstream.js';

test('queues messages until the endpoint event, and posts them in order', async t => {
	const {listen, send, posts, streams} = await start(t, response => {
		response.writeHead(200, {'content-type': 'text/event-stream'}).flushHeaders();
	});
	for (let id = 0; id < 20; id++) send(`{"id":${id}}`);
	listen();
	await until(() => streams.length === 1);
	t.is(posts.length, 0);
	streams[0]?.write('event: endpoint\ndata: post?s=1\n\n');
	await until(() => posts.length === 20);
	t.deepEqual(
		posts.map(({body}) => body),
		Array.from({length: 20}, (_, id) => `{"id":${id}}`),
	);
	t.is(posts[0]?.url, '/post?s=1');
	t.is(posts[0]?.headers['content-type'], 'application/json');
});

test('resolves the endpoint against the URL of the stream after redirects [A-G6]', async t => {
	const {listen, send, posts} = await start(t, (response, request) => {
		if (!request.url?.startsWith('/v2/')) response.writeHead(308, {location: '/v2/sse'}).end();
		else
			response
				.writeHead(200, {'content-type': 'text/event-stream'})
				.write('event: endpoint\ndata: messages?s=1\n\n');
	});
	listen();
	send('{"id":1}');
	await until(() => posts.length === 1);
	t.is(posts[0]?.url, '/v2/messages?s=1');
});

test('posts one message at a time', async t => {
	let [open, most] = [0, 0];
	const {listen, send, posts} = await start(t, undefined, async response => {
		most = Math.max(most, ++open);
		await sleep(20);
		open--;
		response.writeHead(202).end();
	});
	listen();
	send('{"id":0}');
	await until(() => posts.length === 1);
	for (let id = 1; id < 5; id++) send(`{"id":${id}}`);
	await until(() => posts.length === 5);
	t.is(most, 1);
});

test('preserves messages byte for byte and in order when they arrive in single bytes, between comments [A18]', async t => {
	const messages = ['{ "jsonrpc":"2.0","id":1.0,"result":"é\u2028" }', '{"jsonrpc":"2.0","method":"n"}'];
	const events =
		`: hi\r\n\r\nevent: endpoint\r\ndata: /post\r\n\r\nid: 7\r\nevent: message\r\ndata: ${messages[0]}\r\n\r\n` +
		`event: ping\ndata: x\n\nid: 8\n\ndata:${messages[1]}\n\n`;
	const {listen, texts} = await start(t, async response => {
		response.writeHead(200, {'content-type': 'text/event-stream; charset=utf-8'});
		for (const byte of Buffer.from(events)) {
			response.write(Buffer.of(byte));
			await sleep(0);
		}
	});
	listen();
	await until(() => texts().length === 2);
	t.deepEqual(texts(), messages);
});

test('joins the data lines of a message', async t => {
	const {listen, texts} = await start(t, response =>
		stream(response).write('data: {"jsonrpc":"2.0",\ndata: "method":"n"}\n\n'),
	);
	listen();
	await until(() => texts().length === 1);
	t.deepEqual(texts(), ['{"jsonrpc":"2.0", "method":"n"}']);
});

test('reports a message over the limit with its id, and continues with the next [A18]', async t => {
	const long = `{"jsonrpc":"2.0","id":5,"result":"${'x'.repeat(200)}"}`;
	const {listen, received} = await start(
		t,
		response => stream(response).write(`data: ${long}\n\ndata: {"jsonrpc":"2.0","method":"n"}\n\n`),
		undefined,
		{maxBytes: 100},
	);
	listen();
	await until(() => received.length === 2);
	t.like(received[0]?.head, {flaw: 'too large', id: '5'});
	t.is(received[1]?.head.method, 'n');
});

test('sends the configured headers with the GET and each POST, and those of a message with its POST', async t => {
	const {client, listen, posts, gets} = await start(t, undefined, undefined, {
		headers: () => ({authorization: 'Bearer a', 'x-a': '1'}),
	});
	listen();
	const envelope = Envelope.of({id: 1});
	envelope.headers = {'x-a': '2', 'x-b': '3'};
	client.outgoing.next(envelope);
	client.outgoing.next(Envelope.of({id: 2}));
	await until(() => posts.length === 2);
	t.like(gets[0]?.headers, {
		authorization: 'Bearer a',
		accept: 'text/event-stream',
		'accept-encoding': 'identity',
	});
	t.like(posts[0]?.headers, {
		authorization: 'Bearer a',
		'x-a': '2',
		'x-b': '3',
		'accept-encoding': 'identity',
	});
	t.like(posts[1]?.headers, {authorization: 'Bearer a', 'x-a': '1'});
});

test('stops reading the stream under backpressure [F1]', async t => {
	const message = `data: {"x":"${'x'.repeat(100_000)}"}\n\n`;
	const {listen, received, streams, send, posts} = await start(t);
	listen();
	await until(() => streams.length === 1);
	const [response] = streams as [ServerResponse];
	response.write(message);
	await until(() => received.length === 1);
	const open = received[0]?.origin.valve.shut();
	for (let count = 0; count < 100; count++) response.write(message);
	// Without backpressure, this many turns would be enough to read all messages.
	for (let count = 1; count <= 20; count++) {
		send('{"id":1}');
		await until(() => posts.length === count);
	}
	t.true(received.length <= 3, `${received.length}`);
	open?.();
	await until(() => received.length === 101);
});

test('applies backpressure to a sender while more than 8 MiB are queued [F2]', async t => {
	const {listen, send, posts, streams} = await start(t, response =>
		response.writeHead(200, {'content-type': 'text/event-stream'}).flushHeaders(),
	);
	const origin: MessageOrigin = {name: 'client', valve: new Valve()};
	listen();
	for (let id = 0; id < 8; id++) send(`{"id":${id},"x":"${'x'.repeat(2 ** 20)}"}`, origin);
	t.false(origin.valve.isOpen);
	await until(() => streams.length === 1);
	streams[0]?.write('event: endpoint\ndata: /post\n\n');
	await until(() => origin.valve.isOpen);
	await until(() => posts.length === 8);
	t.pass();
});
