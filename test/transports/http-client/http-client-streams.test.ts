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
const MODERN = {'mcp-method': 'resources/list', 'mcp-protocol-version': '2026-07-28'};

async function urlOf(t: ExecutionContext, listener: (req: IncomingMessage, res: ServerResponse) => void) {
	return new URL(`http://127.0.0.1:${portOf(await serve(t, listener))}/mcp`);
}

/** All that is heard of a server that was asked something. */
function asked(
	client: ReturnType<typeof httpClient>,
	method: string,
	headers?: Envelope['headers'],
): Envelope[] {
	const heard: Envelope[] = [];
	client.incoming.subscribe(envelope => heard.push(envelope));
	const request = Envelope.of({jsonrpc: '2.0', id: 1, method});
	request.headers = headers;
	client.outgoing.next(request);
	return heard;
}

const unknownMethod = (_req: IncomingMessage, res: ServerResponse): void => {
	const error = {code: -32601, message: 'Method not found'};
	res.writeHead(404, {'content-type': 'application/json'});
	res.end(JSON.stringify({jsonrpc: '2.0', id: 1, error}));
};

test('A listening stream that broke is taken up again behind the last that was heard', async t => {
	const places: Array<string | undefined> = [];
	const url = await urlOf(t, (req, res) => {
		places.push(req.headers['last-event-id'] as string | undefined);
		res.writeHead(200, events).write('id: 7\nretry: 1\ndata: {"jsonrpc":"2.0","method":"a"}\n\n');
		if (places.length === 1) setImmediate(() => res.destroy());
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
	await until(() => places.length === 2);
	stream.stop();
	t.deepEqual(places, [undefined, '7']);
});

for (const status of [401, 403, 429, 503])
	test(`A listening stream that is refused with ${status} is tried again, which is told once`, async t => {
		let asked = 0;
		const url = await urlOf(t, (_req, res) => {
			asked++;
			if (asked <= 2) res.writeHead(status).end();
			else res.writeHead(200, events).write('data: {"jsonrpc":"2.0","method":"notifications/hello"}\n\n');
		});
		const {log: readable, entries} = readableLog();
		const heard: Envelope[] = [];
		const stream = new ListeningStream({
			name: 'server',
			url,
			log: readable,
			maxBytes: 1000,
			headers: () => ({}),
			onResponse: () => {},
			onMessage: envelope => heard.push(envelope),
		});
		stream.open();
		await until(() => heard.length === 1);
		stream.stop();
		t.is(asked, 3);
		const told = (await entries()).filter(({event}) => event === 'http.stream_refused');
		t.deepEqual(
			told.map(entry => entry.status),
			[status],
		);
	});

test('A stream that its server leaves open behind the answer is closed', async t => {
	const url = await urlOf(t, (_req, res) => {
		res.writeHead(200, events).write('data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
		closed = once(res, 'close');
	});
	let closed: Promise<unknown> | undefined;
	const heard = asked(httpClient({name: 'server', url, log}), 'ping');
	await until(() => heard.length === 1 && closed !== undefined);
	await closed;
	t.pass();
});

test('A modern server that does not know a method has answered, whatever its status', async t => {
	const url = await urlOf(t, unknownMethod);
	const heard = asked(httpClient({name: 'server', url, log}), 'resources/list', MODERN);
	await until(() => heard.length === 1);
	t.like(heard[0]?.body, {id: 1, error: {code: -32601}});
	t.is(heard[0]?.origin.errorReply, undefined);
	t.true(heard[0]?.isReceived);
});

test('A server that does not know initialize is not one of HTTP+SSE', async t => {
	const url = await urlOf(t, unknownMethod);
	const http = () => httpClient({name: 'server', url, log});
	const sse = () => {
		throw new Error('It is not tried.');
	};
	const heard = asked(httpOrSse({name: 'server', log, http, sse}), 'initialize');
	await until(() => heard.length === 1);
	t.like(heard[0]?.body, {id: 1, error: {code: -32601}});
});
