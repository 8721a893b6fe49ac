import type {ServerResponse} from 'node:http';
import test, {type ExecutionContext} from 'ava';
import {Valve} from '../../../lib/core/valve.js';
import {SseStream, type SseStreamOptions} from '../../../lib/transports/sse/sse-stream.js';
import {until} from '../../helpers/pipeline.js';
import {get, serve, unchunked} from '../http-peers.js';

const event = (text: string) => ({data: Buffer.from(text)});

/** A client that has requested a stream, and the stream. */
async function start(t: ExecutionContext, options: SseStreamOptions = {}) {
	const responses: ServerResponse[] = [];
	const server = await serve(t, (_request, response) => responses.push(response));
	const client = get(t, server);
	await until(() => responses.length === 1);
	const stream = new SseStream(responses[0] as ServerResponse, options);
	return {client, stream, response: responses[0] as ServerResponse};
}

test('sends the headers immediately', async t => {
	const {client} = await start(t, {headers: {'mcp-session-id': 's'}});
	await until(() => client.text().includes('\r\n\r\n'));
	for (const part of ['HTTP/1.1 200', 'content-type: text/event-stream', 'mcp-session-id: s', 'no-transform'])
		t.true(client.text().includes(part), part);
});

test('sends events in order, then the end', async t => {
	const {client, stream} = await start(t);
	t.true(stream.send({event: 'endpoint', ...event('/x')}));
	t.true(stream.send({id: '1', retryMs: 5, ...event('{"a":1}')}));
	stream.end();
	await stream.closed;
	await until(() => client.text().endsWith('0\r\n\r\n'));
	const body = 'event: endpoint\ndata: /x\n\nid: 1\nretry: 5\ndata: {"a":1}\n\n';
	t.is(unchunked(client.text()), body);
});

test('keeps an idle stream alive with comments [D9]', async t => {
	const {client, stream} = await start(t, {keepAliveMs: 20});
	await until(() => unchunked(client.text()).includes(': keep-alive\n\n: keep-alive\n\n'));
	stream.end();
	await stream.closed;
	t.regex(unchunked(client.text()), /^(: keep-alive\n\n)+$/);
});

test('shuts the valve of an origin while the client does not read [F1]', async t => {
	const {client, stream} = await start(t);
	client.pause();
	const valve = new Valve();
	const [data, other] = [event('x'.repeat(100_000)), new Valve()];
	let sent = 0;
	await until(() => {
		if (valve.isOpen) {
			stream.send(data, valve);
			sent++;
		}
		return !valve.isOpen && stream.unreadBytes > 0;
	});
	t.true(other.isOpen);
	t.true(stream.unreadBytes < 10 * 100_000);
	client.resume();
	await until(() => valve.isOpen);
	await until(() => unchunked(client.text()).length === sent * (100_000 + 'data: \n\n'.length));
	t.pass();
});

test('sends no comments to a client that does not read [D9]', async t => {
	const {client, stream, response} = await start(t, {keepAliveMs: 5});
	client.pause();
	await until(() => {
		if (!response.writableNeedDrain) stream.send(event('x'.repeat(100_000)));
		return response.writableNeedDrain;
	});
	const before = stream.unreadBytes;
	// Timers fire in order: that of the stream has fired ten times before this one.
	await new Promise(resolve => setTimeout(resolve, 50));
	t.is(stream.unreadBytes, before);
});

test('disconnects a client with more unread bytes than the limit, and opens the valve [F3]', async t => {
	let unread = 0;
	const {client, stream} = await start(t, {
		maxUnreadBytes: 1_000_000,
		onSlow: bytes => {
			unread = bytes;
		},
	});
	client.pause();
	const valve = new Valve();
	await until(() => !stream.send(event('x'.repeat(100_000)), valve));
	await stream.closed;
	t.true(unread > 1_000_000 && unread < 3_000_000, `${unread}`);
	t.true(valve.isOpen);
});

test('opens the valves and rejects further events after the client disconnects [D10]', async t => {
	const {client, stream} = await start(t);
	client.pause();
	const valve = new Valve();
	await until(() => {
		if (valve.isOpen) stream.send(event('x'.repeat(100_000)), valve);
		return !valve.isOpen;
	});
	client.destroy();
	await stream.closed;
	t.true(valve.isOpen);
	t.false(stream.isOpen);
	t.false(stream.send(event('a'), valve));
});

test('detects a client that disconnected before the stream was created', async t => {
	const responses: ServerResponse[] = [];
	const server = await serve(t, (_request, response) => responses.push(response));
	const client = get(t, server);
	await until(() => responses.length === 1);
	client.destroy();
	await until(() => responses[0]?.destroyed === true);
	const stream = new SseStream(responses[0] as ServerResponse);
	await stream.closed;
	t.false(stream.send(event('a')));
});
