import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {Envelope} from '../../../lib/core/envelope.js';
import {createLog} from '../../../lib/core/log.js';
import {standaloneUpstream} from '../../../lib/upstream/standalone.js';
import {until} from '../../helpers/pipeline.js';
import {envelope as modernMeta} from '../../helpers/version-stages.js';

const quiet = createLog({level: 'error', write: () => {}, isPretty: false});

type Seen = {
	readonly method: string | undefined;
	readonly headers: IncomingMessage['headers'];
	readonly body: string;
};
type Handle = (response: ServerResponse, seen: Seen) => void;

/** A server that answers as it is told, and a client of it. */
async function start(t: ExecutionContext, handle: Handle) {
	const seen: Seen[] = [];
	const server = createServer(async (request, response) => {
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		const one = {method: request.method, headers: request.headers, body: Buffer.concat(chunks).toString()};
		seen.push(one);
		handle(response, one);
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
	const heard: Array<{readonly [key: string]: unknown}> = [];
	client.incoming.subscribe(envelope => heard.push(envelope.body));
	const say = (body: object): void => client.outgoing.next(Envelope.of({jsonrpc: '2.0', ...body}));
	return {client, heard, say, seen};
}

const json = (response: ServerResponse, body: unknown, status = 200, headers = {}): void => {
	response
		.writeHead(status, {'content-type': 'application/json', ...headers})
		.end(JSON.stringify(body, null, 2));
};

test('a message is posted as it is, and an answer in JSON is heard as one line', async t => {
	const {heard, say, seen} = await start(t, response =>
		json(response, {jsonrpc: '2.0', id: 1, result: {a: 'b'}}),
	);
	say({id: 1, method: 'ping'});
	await until(() => heard.length === 1);
	t.deepEqual(heard, [{jsonrpc: '2.0', id: 1, result: {a: 'b'}}]);
	t.is(seen[0]?.body, '{"jsonrpc":"2.0","id":1,"method":"ping"}');
	t.like(seen[0]?.headers, {
		'content-type': 'application/json',
		accept: 'application/json, text/event-stream',
	});
});

test('an answer in events is heard event by event, and one without data is none', async t => {
	const {heard, say} = await start(t, response => {
		response.writeHead(200, {'content-type': 'text/event-stream'});
		response.write('id: 1\ndata:\n\ndata: {"jsonrpc":"2.0","method":"n"}\n\n');
		response.end('data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
	});
	say({id: 1, method: 'x'});
	await until(() => heard.length === 2);
	t.like(heard, [{method: 'n'}, {id: 1, result: {}}]);
});

test('session and version go with all that follows, and the session is ended', async t => {
	const {client, heard, say, seen} = await start(t, (response, {body, method}) => {
		if (method === 'DELETE' || body.includes('"n"')) response.writeHead(202).end();
		else
			json(response, {jsonrpc: '2.0', id: 1, result: {protocolVersion: '2025-06-18'}}, 200, {
				'Mcp-Session-Id': 's-1',
			});
	});
	say({id: 1, method: 'initialize', params: {protocolVersion: '2025-11-25'}});
	await until(() => heard.length === 1);
	say({method: 'n'});
	await until(() => seen.length === 2);
	t.is(seen[0]?.headers['mcp-protocol-version'], undefined);
	t.like(seen[1]?.headers, {'mcp-session-id': 's-1', 'mcp-protocol-version': '2025-06-18'});
	await client.close();
	t.like(seen[2], {method: 'DELETE', headers: {'mcp-session-id': 's-1'}});
});

test('a modern request says in its headers what it is', async t => {
	const {heard, say, seen} = await start(t, response => json(response, {jsonrpc: '2.0', id: 1, result: {}}));
	say({id: 1, method: 'tools/call', params: {name: 'x', _meta: modernMeta()}});
	await until(() => heard.length === 1);
	t.like(seen[0]?.headers, {
		'mcp-protocol-version': '2026-07-28',
		'mcp-method': 'tools/call',
		'mcp-name': 'x',
	});
});

test('a refusal in JSON-RPC is the answer, whatever id it has', async t => {
	const error = {code: -32_000, message: 'Bad Request: Server not initialized'};
	const {heard, say} = await start(t, response => json(response, {jsonrpc: '2.0', id: null, error}, 400));
	say({id: 7, method: 'server/discover'});
	await until(() => heard.length === 1);
	t.deepEqual(heard, [{jsonrpc: '2.0', id: 7, error}]);
});

test('a status without more is an error that says where, and keeps what is secret', async t => {
	const {heard, say} = await start(t, response => response.writeHead(503).end('down'));
	say({id: 1, method: 'ping'});
	await until(() => heard.length === 1);
	t.regex(JSON.stringify(heard), /remote answered with HTTP status 503/);
	t.false(JSON.stringify(heard).includes('secret'));
});

test('an answer that is too long is an error', async t => {
	const {heard, say} = await start(t, response =>
		json(response, {jsonrpc: '2.0', id: 1, result: {a: 'b'.repeat(2000)}}),
	);
	say({id: 1, method: 'ping'});
	await until(() => heard.length === 1);
	t.regex(JSON.stringify(heard), /limit of 1000 bytes/);
});

test('nobody there is an error', async t => {
	const client = standaloneUpstream({
		name: 'remote',
		log: quiet,
		headers: () => ({}),
		url: new URL('http://127.0.0.1:1/mcp'),
	});
	const heard: unknown[] = [];
	client.incoming.subscribe(envelope => heard.push(envelope.body));
	client.outgoing.next(Envelope.of({jsonrpc: '2.0', id: 1, method: 'ping'}));
	await until(() => heard.length === 1);
	t.like(heard, [{id: 1, error: {code: -31_001}}]);
});
