import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {Envelope} from '../../../lib/core/envelope.js';
import {createLog} from '../../../lib/core/log.js';
import {standaloneUpstream} from '../../../lib/upstream/standalone.js';
import {until} from '../../helpers/pipeline.js';
import {envelope as statelessMeta} from '../../helpers/version-stages.js';

const quiet = createLog({level: 'error', write: () => {}, isPretty: false});

type ReceivedRequest = {
	readonly method: string | undefined;
	readonly headers: IncomingMessage['headers'];
	readonly body: string;
};
type Handle = (response: ServerResponse, request: ReceivedRequest) => void;

/** Starts a server that handles requests with this function, and a client of it. */
async function start(t: ExecutionContext, handle: Handle) {
	const requests: ReceivedRequest[] = [];
	const server = createServer(async (request, response) => {
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		const body = Buffer.concat(chunks).toString();
		const receivedRequest = {method: request.method, headers: request.headers, body};
		requests.push(receivedRequest);
		handle(response, receivedRequest);
	});
	await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => {
		server.closeAllConnections();
		server.close();
	});
	const {port} = server.address() as AddressInfo;
	const client = standaloneUpstream({
		name: 'remote',
		log: quiet,
		headers: () => ({}),
		url: new URL(`http://127.0.0.1:${port}/mcp?key=secret`),
		maxBytes: 1000,
	});
	const received: Array<{readonly [key: string]: unknown}> = [];
	client.incoming.subscribe(envelope => received.push(envelope.body));
	const send = (body: object): void => client.outgoing.next(Envelope.of({jsonrpc: '2.0', ...body}));
	return {client, received, send, requests};
}

const json = (response: ServerResponse, body: unknown, status = 200, headers = {}): void => {
	response
		.writeHead(status, {'content-type': 'application/json', ...headers})
		.end(JSON.stringify(body, null, 2));
};

test('posts a message unchanged, and receives a JSON response', async t => {
	const {received, send, requests} = await start(t, response =>
		json(response, {jsonrpc: '2.0', id: 1, result: {a: 'b'}}),
	);
	send({id: 1, method: 'ping'});
	await until(() => received.length === 1);
	t.deepEqual(received, [{jsonrpc: '2.0', id: 1, result: {a: 'b'}}]);
	t.is(requests[0]?.body, '{"jsonrpc":"2.0","id":1,"method":"ping"}');
	t.like(requests[0]?.headers, {
		'content-type': 'application/json',
		accept: 'application/json, text/event-stream',
	});
});

test('receives the messages of an event stream, and ignores an event without data', async t => {
	const {received, send} = await start(t, response => {
		response.writeHead(200, {'content-type': 'text/event-stream'});
		response.write('id: 1\ndata:\n\ndata: {"jsonrpc":"2.0","method":"n"}\n\n');
		response.end('data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
	});
	send({id: 1, method: 'x'});
	await until(() => received.length === 2);
	t.like(received, [{method: 'n'}, {id: 1, result: {}}]);
});

test('sends session id and version with later requests, and deletes the session on close', async t => {
	const {client, received, send, requests} = await start(t, (response, {body, method}) => {
		if (method === 'DELETE' || body.includes('"n"')) response.writeHead(202).end();
		else
			json(response, {jsonrpc: '2.0', id: 1, result: {protocolVersion: '2025-06-18'}}, 200, {
				'Mcp-Session-Id': 's-1',
			});
	});
	send({id: 1, method: 'initialize', params: {protocolVersion: '2025-11-25'}});
	await until(() => received.length === 1);
	send({method: 'n'});
	await until(() => requests.length === 2);
	t.is(requests[0]?.headers['mcp-protocol-version'], undefined);
	t.like(requests[1]?.headers, {'mcp-session-id': 's-1', 'mcp-protocol-version': '2025-06-18'});
	await client.close();
	t.like(requests[2], {method: 'DELETE', headers: {'mcp-session-id': 's-1'}});
});

test('sends version, method and name of a stateless request as headers', async t => {
	const {received, send, requests} = await start(t, response =>
		json(response, {jsonrpc: '2.0', id: 1, result: {}}),
	);
	send({id: 1, method: 'tools/call', params: {name: 'x', _meta: statelessMeta()}});
	await until(() => received.length === 1);
	t.like(requests[0]?.headers, {
		'mcp-protocol-version': '2026-07-28',
		'mcp-method': 'tools/call',
		'mcp-name': 'x',
	});
});

test('uses the JSON-RPC error of an HTTP error response, whatever its id', async t => {
	const error = {code: -32_000, message: 'Bad Request: Server not initialized'};
	const {received, send} = await start(t, response => json(response, {jsonrpc: '2.0', id: null, error}, 400));
	send({id: 7, method: 'server/discover'});
	await until(() => received.length === 1);
	t.deepEqual(received, [{jsonrpc: '2.0', id: 7, error}]);
});

test('responds with an error to an HTTP error, without the query of the URL', async t => {
	const {received, send} = await start(t, response => response.writeHead(503).end('down'));
	send({id: 1, method: 'ping'});
	await until(() => received.length === 1);
	t.regex(JSON.stringify(received), /remote responded with HTTP status 503/);
	t.false(JSON.stringify(received).includes('secret'));
});

test('rejects a response over the limit', async t => {
	const {received, send} = await start(t, response =>
		json(response, {jsonrpc: '2.0', id: 1, result: {a: 'b'.repeat(2000)}}),
	);
	send({id: 1, method: 'ping'});
	await until(() => received.length === 1);
	t.regex(JSON.stringify(received), /limit of 1000 bytes/);
});

test('responds with an error when the connection is refused', async t => {
	const client = standaloneUpstream({
		name: 'remote',
		log: quiet,
		headers: () => ({}),
		url: new URL('http://127.0.0.1:1/mcp'),
	});
	const received: unknown[] = [];
	client.incoming.subscribe(envelope => received.push(envelope.body));
	client.outgoing.next(Envelope.of({jsonrpc: '2.0', id: 1, method: 'ping'}));
	await until(() => received.length === 1);
	t.like(received, [{id: 1, error: {code: -31_001}}]);
});
