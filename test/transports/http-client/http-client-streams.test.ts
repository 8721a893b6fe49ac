import {once} from 'node:events';
import type {IncomingMessage, ServerResponse} from 'node:http';
import test, {type ExecutionContext} from 'ava';
import {Envelope} from '../../../lib/core/envelope.js';
import {createLog} from '../../../lib/core/log.js';
import {httpClient} from '../../../lib/transports/http-client/http-client.js';
import {ListeningStream} from '../../../lib/transports/http-client/listening-stream.js';
import {httpOrSse} from '../../../lib/upstream/http-or-sse.js';
import {readableLog, until} from '../../helpers/pipeline.js';
import {portOf, serve} from '../http-peers.js';

const log = createLog({level: 'error', write: () => {}, isPretty: false});
const events = {'content-type': 'text/event-stream'};
const STATELESS_HEADERS = {'mcp-method': 'resources/list', 'mcp-protocol-version': '2026-07-28'};

async function urlOf(t: ExecutionContext, listener: (req: IncomingMessage, res: ServerResponse) => void) {
	return new URL(`http://127.0.0.1:${portOf(await serve(t, listener))}/mcp`);
}

/** Sends a request. Returns the array of received messages. */
function sendRequest(
	client: ReturnType<typeof httpClient>,
	method: string,
	headers?: Envelope['headers'],
): Envelope[] {
	const received: Envelope[] = [];
	client.incoming.subscribe(envelope => received.push(envelope));
	const request = Envelope.of({jsonrpc: '2.0', id: 1, method});
	request.headers = headers;
	client.outgoing.next(request);
	return received;
}

const unknownMethod = (_req: IncomingMessage, res: ServerResponse): void => {
	const error = {code: -32601, message: 'Method not found'};
	res.writeHead(404, {'content-type': 'application/json'});
	res.end(JSON.stringify({jsonrpc: '2.0', id: 1, error}));
};

test('resumes a broken GET stream after the last received event', async t => {
	const lastEventIds: Array<string | undefined> = [];
	const url = await urlOf(t, (req, res) => {
		lastEventIds.push(req.headers['last-event-id'] as string | undefined);
		res.writeHead(200, events).write('id: 7\nretry: 1\ndata: {"jsonrpc":"2.0","method":"a"}\n\n');
		if (lastEventIds.length === 1) setImmediate(() => res.destroy());
	});
	const stream = new ListeningStream({
		name: 'server',
		url,
		log,
		maxBytes: 1000,
		headers: () => ({}),
		onResponse: () => {},
		onMessage: () => {},
	});
	stream.open();
	await until(() => lastEventIds.length === 2);
	stream.stop();
	t.deepEqual(lastEventIds, [undefined, '7']);
});

for (const status of [401, 403, 429, 503])
	test(`retries a GET stream that is rejected with ${status}, and logs that once`, async t => {
		let requests = 0;
		const url = await urlOf(t, (_req, res) => {
			requests++;
			if (requests <= 2) res.writeHead(status).end();
			else res.writeHead(200, events).write('data: {"jsonrpc":"2.0","method":"notifications/hello"}\n\n');
		});
		const {log: readable, entries} = readableLog();
		const received: Envelope[] = [];
		const stream = new ListeningStream({
			name: 'server',
			url,
			log: readable,
			maxBytes: 1000,
			headers: () => ({}),
			onResponse: () => {},
			onMessage: envelope => received.push(envelope),
		});
		stream.open();
		await until(() => received.length === 1);
		stream.stop();
		t.is(requests, 3);
		const rejections = (await entries()).filter(({event}) => event === 'http.stream_refused');
		t.deepEqual(
			rejections.map(entry => entry.status),
			[status],
		);
	});

test('closes a stream that the upstream leaves open after the response', async t => {
	const url = await urlOf(t, (_req, res) => {
		res.writeHead(200, events).write('data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
		closed = once(res, 'close');
	});
	let closed: Promise<unknown> | undefined;
	const received = sendRequest(httpClient({name: 'server', url, log}), 'ping');
	await until(() => received.length === 1 && closed !== undefined);
	await closed;
	t.pass();
});

test('treats an unknown method of a stateless upstream as a response, whatever the HTTP status', async t => {
	const url = await urlOf(t, unknownMethod);
	const received = sendRequest(httpClient({name: 'server', url, log}), 'resources/list', STATELESS_HEADERS);
	await until(() => received.length === 1);
	t.like(received[0]?.body, {id: 1, error: {code: -32601}});
	t.is(received[0]?.origin.errorReply, undefined);
	t.true(received[0]?.isReceived);
});

test('does not fall back to HTTP+SSE for an upstream without initialize', async t => {
	const url = await urlOf(t, unknownMethod);
	const http = () => httpClient({name: 'server', url, log});
	const sse = () => {
		throw new Error('HTTP+SSE must not be tried.');
	};
	const received = sendRequest(httpOrSse({name: 'server', log, http, sse}), 'initialize');
	await until(() => received.length === 1);
	t.like(received[0]?.body, {id: 1, error: {code: -32601}});
});
