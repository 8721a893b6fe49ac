import type {ServerResponse} from 'node:http';
import test from 'ava';
import type {BridgeError} from '../../../lib/core/errors.js';
import {sseClient} from '../../../lib/transports/sse/sse-client.js';
import {readableLog, until} from '../../helpers/pipeline.js';
import {start, stream} from './sse-upstream.js';

test('responds to a request with the HTTP error of its POST, and sends the next POST [D5]', async t => {
	let count = 0;
	const {listen, send, received, posts, entries} = await start(t, undefined, response => {
		if (count++ < 2) response.writeHead(429, {'retry-after': '7'}).end('slow down');
		else response.writeHead(200).end();
	});
	listen();
	send('{"jsonrpc":"2.0","id":1,"method":"a"}');
	send('{"jsonrpc":"2.0","method":"n"}');
	send('{"jsonrpc":"2.0","id":2,"method":"b"}');
	await until(() => posts.length === 3 && received.length === 1);
	t.like(received[0]?.body, {id: 1, error: {code: -31_001, data: {status: 429}}});
	t.like(received[0]?.origin.errorReply, {status: 429, body: Buffer.from('slow down')});
	t.is(received[0]?.origin.errorReply?.headers['retry-after'], '7');
	t.like(await entries(), [{event: 'http.not_taken'}]);
});

test('fails queued requests with the HTTP error of a rejected stream [D5]', async t => {
	const {listen, send, received, error} = await start(t, response =>
		response.writeHead(401, {'www-authenticate': 'Bearer'}).end('no'),
	);
	send('{"jsonrpc":"2.0","id":1,"method":"a"}');
	listen();
	await until(() => error() !== undefined);
	t.like(received[0]?.origin.errorReply, {status: 401, body: Buffer.from('no')});
	t.is(received[0]?.origin.errorReply?.headers['www-authenticate'], 'Bearer');
	t.is(error()?.code, 'ERR_UPSTREAM_UNREACHABLE');
	t.regex(error()?.message ?? '', /status 401/);
});

test('does not follow a redirect to another origin, and omits its path from the error [D6]', async t => {
	const {listen, error, gets} = await start(t, response =>
		response.writeHead(307, {location: 'http://127.0.0.1:1/secret'}).end(),
	);
	listen();
	await until(() => error() !== undefined);
	t.regex(error()?.message ?? '', /status 307, a redirect to http:\/\/127\.0\.0\.1:1; only/);
	t.is(gets.length, 1);
});

test('fails with the content type of a response that is not an event stream [D7]', async t => {
	const {listen, error} = await start(t, response =>
		response.writeHead(200, {'content-type': 'text/html'}).end('<html>'),
	);
	listen();
	await until(() => error() !== undefined);
	t.regex(error()?.message ?? '', /text\/html instead of text\/event-stream/);
	t.false(error()?.sentence.includes('secret'));
});

for (const [event, end] of [
	['ends', (response: ServerResponse) => response.end()],
	['is reset', (response: ServerResponse) => response.socket?.resetAndDestroy()],
] as const)
	test(`fails when the stream ${event} [D8]`, async t => {
		const {client, listen, streams, error, texts} = await start(t, response =>
			stream(response).write('data: {"id":1}\n\n'),
		);
		listen();
		await until(() => texts().length === 1);
		end(streams[0] as ServerResponse);
		await client.disconnected;
		t.is(error()?.code, 'ERR_UPSTREAM_UNREACHABLE');
	});

test('fails when the connection is refused [D1]', async t => {
	const {log} = readableLog();
	const client = sseClient({name: 'remote', url: new URL('http://127.0.0.1:1/sse'), log});
	const error = await new Promise<BridgeError>(resolve => client.incoming.subscribe({error: resolve}));
	t.is(error.code, 'ERR_UPSTREAM_UNREACHABLE');
	await client.disconnected;
});

for (const address of [
	'http://evil.example/post',
	'//evil.example/post',
	'https://127.0.0.1/post',
	'http://',
])
	test(`does not post messages to another origin: ${address}`, async t => {
		const {listen, send, error, posts} = await start(t, response =>
			stream(response, `event: endpoint\ndata: ${address}\n\n`),
		);
		send('{"id":1}');
		listen();
		await until(() => error() !== undefined);
		t.is(error()?.code, 'ERR_UPSTREAM_INVALID');
		t.is(posts.length, 0);
	});

test('ignores and logs a second endpoint event', async t => {
	const {listen, send, posts, entries} = await start(t, response =>
		stream(response).write('event: endpoint\ndata: /other\n\n'),
	);
	listen();
	send('{"id":1}');
	await until(() => posts.length === 1);
	await until(() => posts.length === 1);
	t.is(posts[0]?.url, '/post?s=1');
	t.like(await entries(), [{event: 'sse.second_endpoint'}]);
});

test('responds with an error to a request whose POST fails', async t => {
	const {listen, send, received, error} = await start(t, undefined, response => response.destroy());
	listen();
	send('{"jsonrpc":"2.0","id":1,"method":"a"}');
	await until(() => received.length === 1);
	t.like(received[0]?.body, {id: 1, error: {code: -31_001}});
	t.is(error(), undefined);
});

test('closes the stream and completes on close', async t => {
	const {client, listen, streams, isOver, texts} = await start(t, response =>
		stream(response).write('data: {"id":1}\n\n'),
	);
	listen();
	await until(() => texts().length === 1);
	await client.close();
	await client.disconnected;
	t.true(isOver());
	await until(() => streams[0]?.destroyed === true);
});
