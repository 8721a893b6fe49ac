import type {ServerResponse} from 'node:http';
import {setTimeout as sleep} from 'node:timers/promises';
import test from 'ava';
import {Envelope, type MessageOrigin} from '../../../lib/core/envelope.js';
import {Valve} from '../../../lib/core/valve.js';
import {until} from '../../helpers/pipeline.js';
import {start, stream} from './sse-upstream.js';

test('what is said before the server says where to post waits, and is posted in order', async t => {
	const {listen, say, posts, streams} = await start(t, response => {
		response.writeHead(200, {'content-type': 'text/event-stream'}).flushHeaders();
	});
	for (let id = 0; id < 20; id++) say(`{"id":${id}}`);
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

test('the endpoint of a stream behind a redirect is relative to where the stream is [A-G6]', async t => {
	const {listen, say, posts} = await start(t, (response, request) => {
		if (!request.url?.startsWith('/v2/')) response.writeHead(308, {location: '/v2/sse'}).end();
		else
			response
				.writeHead(200, {'content-type': 'text/event-stream'})
				.write('event: endpoint\ndata: messages?s=1\n\n');
	});
	listen();
	say('{"id":1}');
	await until(() => posts.length === 1);
	t.is(posts[0]?.url, '/v2/messages?s=1');
});

test('one message is posted after the other, however long each takes', async t => {
	let [open, most] = [0, 0];
	const {listen, say, posts} = await start(t, undefined, async response => {
		most = Math.max(most, ++open);
		await sleep(20);
		open--;
		response.writeHead(202).end();
	});
	listen();
	say('{"id":0}');
	await until(() => posts.length === 1);
	for (let id = 1; id < 5; id++) say(`{"id":${id}}`);
	await until(() => posts.length === 5);
	t.is(most, 1);
});

test('messages are heard byte for byte and in order, in single bytes, among comments [A18]', async t => {
	const texts = ['{ "jsonrpc":"2.0","id":1.0,"result":"é\u2028" }', '{"jsonrpc":"2.0","method":"n"}'];
	const events =
		`: hi\r\n\r\nevent: endpoint\r\ndata: /post\r\n\r\nid: 7\r\nevent: message\r\ndata: ${texts[0]}\r\n\r\n` +
		`event: ping\ndata: x\n\nid: 8\n\ndata:${texts[1]}\n\n`;
	const {listen, texts: heard} = await start(t, async response => {
		response.writeHead(200, {'content-type': 'text/event-stream; charset=utf-8'});
		for (const byte of Buffer.from(events)) {
			response.write(Buffer.of(byte));
			await sleep(0);
		}
	});
	listen();
	await until(() => heard().length === 2);
	t.deepEqual(heard(), texts);
});

test('a message of several lines is heard as one', async t => {
	const {listen, texts} = await start(t, response =>
		stream(response).write('data: {"jsonrpc":"2.0",\ndata: "method":"n"}\n\n'),
	);
	listen();
	await until(() => texts().length === 1);
	t.deepEqual(texts(), ['{"jsonrpc":"2.0", "method":"n"}']);
});

test('a message over the limit is told of with its id, and the stream goes on [A18]', async t => {
	const long = `{"jsonrpc":"2.0","id":5,"result":"${'x'.repeat(200)}"}`;
	const {listen, heard} = await start(
		t,
		response => stream(response).write(`data: ${long}\n\ndata: {"jsonrpc":"2.0","method":"n"}\n\n`),
		undefined,
		{maxBytes: 100},
	);
	listen();
	await until(() => heard.length === 2);
	t.like(heard[0]?.head, {flaw: 'too large', id: '5'});
	t.is(heard[1]?.head.method, 'n');
});

test('headers go with the stream and every post, and those of a message with its own', async t => {
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

test('a stream whose messages cannot be taken is not read on [F1]', async t => {
	const message = `data: {"x":"${'x'.repeat(100_000)}"}\n\n`;
	const {listen, heard, streams, say, posts} = await start(t);
	listen();
	await until(() => streams.length === 1);
	const [response] = streams as [ServerResponse];
	response.write(message);
	await until(() => heard.length === 1);
	const open = heard[0]?.origin.valve.shut();
	for (let count = 0; count < 100; count++) response.write(message);
	// So many turns are enough to read all of it, as the last lines of this test do.
	for (let count = 1; count <= 20; count++) {
		say('{"id":1}');
		await until(() => posts.length === count);
	}
	t.true(heard.length <= 3, `${heard.length}`);
	open?.();
	await until(() => heard.length === 101);
});

test('whoever says more than can be posted is stopped [F2]', async t => {
	const {listen, say, posts, streams} = await start(t, response =>
		response.writeHead(200, {'content-type': 'text/event-stream'}).flushHeaders(),
	);
	const origin: MessageOrigin = {name: 'client', valve: new Valve()};
	listen();
	for (let id = 0; id < 8; id++) say(`{"id":${id},"x":"${'x'.repeat(2 ** 20)}"}`, origin);
	t.false(origin.valve.isOpen);
	await until(() => streams.length === 1);
	streams[0]?.write('event: endpoint\ndata: /post\n\n');
	await until(() => origin.valve.isOpen);
	await until(() => posts.length === 8);
	t.pass();
});
