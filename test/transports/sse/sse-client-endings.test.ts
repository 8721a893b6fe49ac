import type {ServerResponse} from 'node:http';
import test from 'ava';
import type {BridgeError} from '../../../lib/core/errors.js';
import {sseClient} from '../../../lib/transports/sse/sse-client.js';
import {readableLog, until} from '../../helpers/pipeline.js';
import {start, stream} from './sse-upstream.js';

test('a post that is refused is an error for its request, with all that was said, and the next is posted [D5]', async t => {
	let count = 0;
	const {listen, say, heard, posts, entries} = await start(t, undefined, response => {
		if (count++ < 2) response.writeHead(429, {'retry-after': '7'}).end('slow down');
		else response.writeHead(200).end();
	});
	listen();
	say('{"jsonrpc":"2.0","id":1,"method":"a"}');
	say('{"jsonrpc":"2.0","method":"n"}');
	say('{"jsonrpc":"2.0","id":2,"method":"b"}');
	await until(() => posts.length === 3 && heard.length === 1);
	t.like(heard[0]?.body, {id: 1, error: {code: -31_001, data: {status: 429}}});
	t.like(heard[0]?.origin.errorReply, {status: 429, body: Buffer.from('slow down')});
	t.is(heard[0]?.origin.errorReply?.headers['retry-after'], '7');
	t.like(await entries(), [{event: 'http.not_taken'}]);
});

test('a stream that is refused fails all that waits, with all that was said [D5]', async t => {
	const {listen, say, heard, failure} = await start(t, response =>
		response.writeHead(401, {'www-authenticate': 'Bearer'}).end('no'),
	);
	say('{"jsonrpc":"2.0","id":1,"method":"a"}');
	listen();
	await until(() => failure() !== undefined);
	t.like(heard[0]?.origin.errorReply, {status: 401, body: Buffer.from('no')});
	t.is(heard[0]?.origin.errorReply?.headers['www-authenticate'], 'Bearer');
	t.is(failure()?.code, 'ERR_UPSTREAM_UNREACHABLE');
	t.regex(failure()?.message ?? '', /status 401/);
});

test('a redirect to another origin is not followed, and named without its path [D6]', async t => {
	const {listen, failure, gets} = await start(t, response =>
		response.writeHead(307, {location: 'http://127.0.0.1:1/secret'}).end(),
	);
	listen();
	await until(() => failure() !== undefined);
	t.regex(failure()?.message ?? '', /status 307, a redirect to http:\/\/127\.0\.0\.1:1; only/);
	t.is(gets.length, 1);
});

test('what is no stream of events fails with what it was [D7]', async t => {
	const {listen, failure} = await start(t, response =>
		response.writeHead(200, {'content-type': 'text/html'}).end('<html>'),
	);
	listen();
	await until(() => failure() !== undefined);
	t.regex(failure()?.message ?? '', /text\/html instead of events/);
	t.false(failure()?.sentence.includes('secret'));
});

for (const [what, end] of [
	['ends', (response: ServerResponse) => response.end()],
	['is reset', (response: ServerResponse) => response.socket?.resetAndDestroy()],
] as const)
	test(`a stream that ${what} fails, so that whoever waits is answered [D8]`, async t => {
		const {client, listen, streams, failure, texts} = await start(t, response =>
			stream(response).write('data: {"id":1}\n\n'),
		);
		listen();
		await until(() => texts().length === 1);
		end(streams[0] as ServerResponse);
		await client.disconnected;
		t.is(failure()?.code, 'ERR_UPSTREAM_UNREACHABLE');
	});

test('nobody there is an error [D1]', async t => {
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
	test(`messages are not posted to another host: ${address}`, async t => {
		const {listen, say, failure, posts} = await start(t, response =>
			stream(response, `event: endpoint\ndata: ${address}\n\n`),
		);
		say('{"id":1}');
		listen();
		await until(() => failure() !== undefined);
		t.is(failure()?.code, 'ERR_UPSTREAM_INVALID');
		t.is(posts.length, 0);
	});

test('a second address changes nothing, and is told of', async t => {
	const {listen, say, posts, entries} = await start(t, response =>
		stream(response).write('event: endpoint\ndata: /other\n\n'),
	);
	listen();
	say('{"id":1}');
	await until(() => posts.length === 1);
	await until(() => posts.length === 1);
	t.is(posts[0]?.url, '/post?s=1');
	t.like(await entries(), [{event: 'sse.second_endpoint'}]);
});

test('a post that finds nobody is an error for its request', async t => {
	const {listen, say, heard, failure} = await start(t, undefined, response => response.destroy());
	listen();
	say('{"jsonrpc":"2.0","id":1,"method":"a"}');
	await until(() => heard.length === 1);
	t.like(heard[0]?.body, {id: 1, error: {code: -31_001}});
	t.is(failure(), undefined);
});

test('closing it ends the stream on the server, and completes', async t => {
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
