import {randomBytes} from 'node:crypto';
import type {ServerResponse} from 'node:http';
import test, {type ExecutionContext} from 'ava';
import {Envelope, type MessageOrigin} from '../../../lib/core/envelope.js';
import {Valve} from '../../../lib/core/valve.js';
import {SseSession, type SseSessionOptions} from '../../../lib/transports/sse/sse-session.js';
import {readableLog, until} from '../../helpers/pipeline.js';
import {get, serve, unchunked} from '../http-peers.js';

/** A client with an open stream, and the endpoint of its session. */
async function start(t: ExecutionContext, options: Partial<SseSessionOptions> = {}) {
	const responses: ServerResponse[] = [];
	const server = await serve(t, (_request, response) => responses.push(response));
	const client = get(t, server);
	await until(() => responses.length === 1);
	const {log, entries} = readableLog();
	const endpoint = new SseSession(responses[0] as ServerResponse, {
		name: 'client',
		path: '/mcp/x/message',
		log,
		...options,
	});
	return {client, endpoint, entries, received: () => unchunked(client.text())};
}

test('sends the address for POSTs with a random session id as the first event', async t => {
	const {endpoint, received} = await start(t);
	await until(() => received() === `event: endpoint\ndata: /mcp/x/message?sessionId=${endpoint.id}\n\n`);
	t.regex(endpoint.id, /^[\da-f-]{36}$/);
});

test('preserves the query parameters of the path', async t => {
	const {received} = await start(t, {path: '/m?a=b', id: 's/1'});
	await until(() => received() === 'event: endpoint\ndata: /m?a=b&sessionId=s%2F1\n\n');
	t.pass();
});

test('preserves outgoing messages byte for byte and in order [A13]', async t => {
	const {endpoint, received} = await start(t, {path: '/', id: '1'});
	const texts = Array.from(
		{length: 50},
		(_, id) => `{ "jsonrpc":"2.0", "id":${id}.0, "result":"\u2028${randomBytes(100).toString('hex')}" }`,
	);
	for (const text of texts) endpoint.outgoing.next(Envelope.fromText(text));
	const expected = texts.map(text => `event: message\ndata: ${text}\n\n`).join('');
	await until(() => received().endsWith(expected));
	t.pass();
});

test('does not end an event at a carriage return between tokens of a message', async t => {
	const {endpoint, received} = await start(t, {path: '/', id: '1'});
	endpoint.outgoing.next(Envelope.fromText('{"id":\r1}'));
	await until(() => received().endsWith('event: message\ndata: {"id":\ndata: 1}\n\n'));
	t.pass();
});

test('emits a POST body as a message with its headers, also if it arrives before the subscription', async t => {
	const {endpoint} = await start(t);
	endpoint.receive(Buffer.from('{"jsonrpc":"2.0",\r\n"id":1, "method":"a"}'), {authorization: 'x'});
	const received: Envelope[] = [];
	endpoint.incoming.subscribe(envelope => received.push(envelope));
	endpoint.receive(Buffer.from('\ufeff{"jsonrpc":"2.0","method":"b"}'), {});
	t.deepEqual(
		received.map(({bytes}) => String(bytes)),
		['{"jsonrpc":"2.0",  "id":1, "method":"a"}', '{"jsonrpc":"2.0","method":"b"}'],
	);
	t.deepEqual(received[0]?.origin.headers, {authorization: 'x'});
	t.is(received[0]?.origin.valve, endpoint.valve);
});

for (const [what, body] of [
	['an empty body', ''],
	['a body that is not JSON', '{"a":\n'],
	['a body with a line break in a string', '{"jsonrpc":"2.0","method":"a\nb"}'],
	['a body that is not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
] as const)
	test(`marks ${what} as not JSON [A6]`, async t => {
		const {endpoint} = await start(t);
		const received: Envelope[] = [];
		endpoint.incoming.subscribe(envelope => received.push(envelope));
		endpoint.receive(Buffer.from(body as string), {});
		t.is(received[0]?.head.flaw, 'not JSON');
	});

test('preserves a body of 8 MiB [A3]', async t => {
	const {endpoint} = await start(t);
	const text = `{"jsonrpc":"2.0","id":7,"method":"${'x'.repeat(8 * 2 ** 20)}"}`;
	const received: Envelope[] = [];
	endpoint.incoming.subscribe(envelope => received.push(envelope));
	endpoint.receive(Buffer.from(text), {});
	t.is(received[0]?.head.id, '7');
	t.true(received[0]?.bytes.equals(Buffer.from(text)));
});

test('completes when the client closes its stream, and drops later messages [D10]', async t => {
	const {client, endpoint, entries} = await start(t);
	let isOver = false;
	endpoint.incoming.subscribe({complete: () => (isOver = true)});
	client.destroy();
	await endpoint.disconnected;
	t.true(isOver);
	endpoint.outgoing.next(Envelope.of({id: 1}));
	t.like(await entries(), [{event: 'sse.client_gone'}]);
});

test('completes immediately when the client has disconnected before the subscription', async t => {
	const {client, endpoint} = await start(t);
	client.destroy();
	await endpoint.disconnected;
	let isOver = false;
	endpoint.incoming.subscribe({complete: () => (isOver = true)});
	t.true(isOver);
});

test('sends all messages before it ends the stream on close', async t => {
	const {client, endpoint, received} = await start(t);
	endpoint.outgoing.next(Envelope.fromText('{"last":1}'));
	await endpoint.close();
	await until(() => client.text().endsWith('0\r\n\r\n'));
	t.true(received().endsWith('data: {"last":1}\n\n'));
});

test('applies backpressure only to the origin that floods a client that does not read [F1]', async t => {
	const {client, endpoint, received} = await start(t);
	client.pause();
	const origin: MessageOrigin = {name: 'files', valve: new Valve()};
	let sent = 0;
	await until(() => {
		for (let count = 0; count < 10 && origin.valve.isOpen; count++, sent++)
			endpoint.outgoing.next(Envelope.fromText(`{"x":"${'x'.repeat(100_000)}"}`, origin));
		return !origin.valve.isOpen;
	});
	t.true(endpoint.valve.isOpen);
	client.resume();
	await until(() => origin.valve.isOpen);
	await until(() => received().split('event: message').length === sent + 1);
	t.pass();
});

test('disconnects and logs a client with more unread bytes than the limit [F3]', async t => {
	const {client, endpoint, entries} = await start(t, {maxUnreadBytes: 1_000_000});
	client.pause();
	let isDisconnected = false;
	void endpoint.disconnected.then(() => (isDisconnected = true));
	await until(() => {
		if (!isDisconnected) endpoint.outgoing.next(Envelope.fromText(`{"x":"${'x'.repeat(100_000)}"}`));
		return isDisconnected;
	});
	t.true((await entries()).some(({event}) => event === 'sse.slow_client'));
});
