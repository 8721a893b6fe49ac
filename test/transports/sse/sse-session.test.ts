import {randomBytes} from 'node:crypto';
import type {ServerResponse} from 'node:http';
import test, {type ExecutionContext} from 'ava';
import {Envelope, type MessageOrigin} from '../../../lib/core/envelope.js';
import {Valve} from '../../../lib/core/valve.js';
import {SseSession, type SseSessionOptions} from '../../../lib/transports/sse/sse-session.js';
import {readableLog, until} from '../../helpers/pipeline.js';
import {get, serve, unchunked} from '../http-peers.js';

/** A client that has opened its stream, and the endpoint that it is. */
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
	return {client, endpoint, entries, heard: () => unchunked(client.text())};
}

test('the first event says where to post, with an id that nobody can guess', async t => {
	const {endpoint, heard} = await start(t);
	await until(() => heard() === `event: endpoint\ndata: /mcp/x/message?sessionId=${endpoint.id}\n\n`);
	t.regex(endpoint.id, /^[\da-f-]{36}$/);
});

test('a path that has parameters keeps them', async t => {
	const {heard} = await start(t, {path: '/m?a=b', id: 's/1'});
	await until(() => heard() === 'event: endpoint\ndata: /m?a=b&sessionId=s%2F1\n\n');
	t.pass();
});

test('messages leave as the bytes that they are, in order [A13]', async t => {
	const {endpoint, heard} = await start(t, {path: '/', id: '1'});
	const texts = Array.from(
		{length: 50},
		(_, id) => `{ "jsonrpc":"2.0", "id":${id}.0, "result":"\u2028${randomBytes(100).toString('hex')}" }`,
	);
	for (const text of texts) endpoint.outgoing.next(Envelope.fromText(text));
	const expected = texts.map(text => `event: message\ndata: ${text}\n\n`).join('');
	await until(() => heard().endsWith(expected));
	t.pass();
});

test('a carriage return that is white space in a message does not end its event', async t => {
	const {endpoint, heard} = await start(t, {path: '/', id: '1'});
	endpoint.outgoing.next(Envelope.fromText('{"id":\r1}'));
	await until(() => heard().endsWith('event: message\ndata: {"id":\ndata: 1}\n\n'));
	t.pass();
});

test('a body that is posted is a message with its headers, whether somebody listens already or not', async t => {
	const {endpoint} = await start(t);
	endpoint.receive(Buffer.from('{"jsonrpc":"2.0",\r\n"id":1, "method":"a"}'), {authorization: 'x'});
	const heard: Envelope[] = [];
	endpoint.incoming.subscribe(envelope => heard.push(envelope));
	endpoint.receive(Buffer.from('\ufeff{"jsonrpc":"2.0","method":"b"}'), {});
	t.deepEqual(
		heard.map(({bytes}) => String(bytes)),
		['{"jsonrpc":"2.0",  "id":1, "method":"a"}', '{"jsonrpc":"2.0","method":"b"}'],
	);
	t.deepEqual(heard[0]?.origin.headers, {authorization: 'x'});
	t.is(heard[0]?.origin.valve, endpoint.valve);
});

for (const [what, body] of [
	['nothing', ''],
	['no JSON', '{"a":\n'],
	['a line break in a string', '{"jsonrpc":"2.0","method":"a\nb"}'],
	['no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
] as const)
	test(`a body that is ${what} is a bad message [A6]`, async t => {
		const {endpoint} = await start(t);
		const heard: Envelope[] = [];
		endpoint.incoming.subscribe(envelope => heard.push(envelope));
		endpoint.receive(Buffer.from(body as string), {});
		t.is(heard[0]?.head.flaw, 'not JSON');
	});

test('a long body is passed on as it is [A3]', async t => {
	const {endpoint} = await start(t);
	const text = `{"jsonrpc":"2.0","id":7,"method":"${'x'.repeat(8 * 2 ** 20)}"}`;
	const heard: Envelope[] = [];
	endpoint.incoming.subscribe(envelope => heard.push(envelope));
	endpoint.receive(Buffer.from(text), {});
	t.is(heard[0]?.head.id, '7');
	t.true(heard[0]?.bytes.equals(Buffer.from(text)));
});

test('a client that closes its stream is gone, and its messages end [D10]', async t => {
	const {client, endpoint, entries} = await start(t);
	let isOver = false;
	endpoint.incoming.subscribe({complete: () => (isOver = true)});
	client.destroy();
	await endpoint.disconnected;
	t.true(isOver);
	endpoint.outgoing.next(Envelope.of({id: 1}));
	t.like(await entries(), [{event: 'sse.client_gone'}]);
});

test('a client that was gone before anybody listened has nothing to say', async t => {
	const {client, endpoint} = await start(t);
	client.destroy();
	await endpoint.disconnected;
	let isOver = false;
	endpoint.incoming.subscribe({complete: () => (isOver = true)});
	t.true(isOver);
});

test('closing it ends the stream with all that was said', async t => {
	const {client, endpoint, heard} = await start(t);
	endpoint.outgoing.next(Envelope.fromText('{"last":1}'));
	await endpoint.close();
	await until(() => client.text().endsWith('0\r\n\r\n'));
	t.true(heard().endsWith('data: {"last":1}\n\n'));
});

test('whoever floods a client that does not read is stopped, and nobody else [F1]', async t => {
	const {client, endpoint, heard} = await start(t);
	client.pause();
	const from: MessageOrigin = {name: 'files', valve: new Valve()};
	let sent = 0;
	await until(() => {
		for (let count = 0; count < 10 && from.valve.isOpen; count++, sent++)
			endpoint.outgoing.next(Envelope.fromText(`{"x":"${'x'.repeat(100_000)}"}`, from));
		return !from.valve.isOpen;
	});
	t.true(endpoint.valve.isOpen);
	client.resume();
	await until(() => from.valve.isOpen);
	await until(() => heard().split('event: message').length === sent + 1);
	t.pass();
});

test('a client that does not read is cut off at its bound, which is told [F3]', async t => {
	const {client, endpoint, entries} = await start(t, {maxUnreadBytes: 1_000_000});
	client.pause();
	let isGone = false;
	void endpoint.disconnected.then(() => (isGone = true));
	await until(() => {
		if (!isGone) endpoint.outgoing.next(Envelope.fromText(`{"x":"${'x'.repeat(100_000)}"}`));
		return isGone;
	});
	t.true((await entries()).some(({event}) => event === 'sse.slow_client'));
});
