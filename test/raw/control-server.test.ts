import {once} from 'node:events';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {OpenResponses} from '../../lib/http/open-responses.js';
import {RawConnections} from '../../lib/raw/connections.js';
import {createControlHandler} from '../../lib/raw/control-server.js';
import {listenLocally} from '../../lib/raw/listen-locally.js';
import {LogDestinations} from '../../lib/raw/log-destinations.js';
import {PortRules} from '../../lib/raw/port-rules.js';
import {tempFolder} from '../helpers/temp-folder.js';
import {client, quietLog} from './support.js';

type Json = {readonly [key: string]: unknown};
type Reply = {readonly status: number; readonly body: Json; readonly headers: Headers; readonly text: string};

const onBug = (error: unknown): void => {
	throw error;
};

async function start(t: ExecutionContext) {
	const log = quietLog();
	const traffic = {add: () => {}, open: () => 1, close: async () => ({lostBytes: 0, leftOutLines: 0})};
	const destinations = new LogDestinations({log: traffic, format: 'x', onLost: () => {}});
	const ports = new PortRules({accept: socket => socket.destroy(), onDropped: () => {}, onTrouble: () => {}});
	let ended = 0;
	const handle = createControlHandler({
		log,
		ports,
		destinations,
		responses: new OpenResponses(),
		connections: new RawConnections(),
		version: '1.2.3',
		shutDown: () => {
			ended++;
		},
	});
	const {port, servers} = await listenLocally({port: 0, handle, onBug});
	t.teardown(() => {
		ports.close();
		for (const server of servers) server.close();
		for (const server of servers) server.closeAllConnections();
	});
	const send = async (init: RequestInit, path = '/mcp', host = '127.0.0.1'): Promise<Reply> => {
		const response = await fetch(`http://${host}:${port}${path}`, {method: 'POST', ...init});
		const text = await response.text();
		const isJson = response.headers.get('content-type') === 'application/json';
		return {status: response.status, body: isJson ? JSON.parse(text) : {}, headers: response.headers, text};
	};
	const post = (body: string, headers: {[name: string]: string} = {}): Promise<Reply> =>
		send({body, headers: {'content-type': 'application/json', ...headers}});
	const request = (method: string, params?: Json, headers = {}): Promise<Reply> =>
		post(JSON.stringify({jsonrpc: '2.0', id: 1, method, params}), headers);
	const call = async (name: string, args?: unknown): Promise<Json> =>
		(await request('tools/call', {name, arguments: args})).body;
	return {log, send, post, request, call, port, servers, ended: () => ended, folder: tempFolder(t)};
}

const code = ({body}: Pick<Reply, 'body'>): unknown => (body.error as Json | undefined)?.code;

for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])
	test(`responds in the requested version ${version} [REQ_MCP_008]`, async t => {
		const {request} = await start(t);
		const {status, body} = await request('initialize', {protocolVersion: version, capabilities: {}});
		t.is(status, 200);
		t.deepEqual(body, {
			jsonrpc: '2.0',
			id: 1,
			result: {
				protocolVersion: version,
				capabilities: {tools: {}},
				serverInfo: {name: 'rawprox', version: '1.2.3'},
			},
		});
	});

test('offers a version if none or an unknown one is requested [REQ_MCP_022]', async t => {
	const {request} = await start(t);
	t.like((await request('initialize', {})).body, {result: {protocolVersion: '2024-11-05'}});
	t.like((await request('initialize', {protocolVersion: '1999-01-01'})).body, {
		result: {protocolVersion: '2025-11-25'},
	});
});

test('supports server/discover and calls of stateless clients', async t => {
	const {request} = await start(t);
	const meta = {
		'io.modelcontextprotocol/protocolVersion': '2026-07-28',
		'io.modelcontextprotocol/clientCapabilities': {},
	};
	const requestStateless = (method: string, params: Json = {}, headers = {}): Promise<Reply> =>
		request(
			method,
			{...params, _meta: meta},
			{
				'mcp-protocol-version': '2026-07-28',
				'mcp-method': method,
				...headers,
			},
		);
	t.like((await requestStateless('server/discover')).body, {result: {supportedVersions: ['2026-07-28']}});
	t.like((await requestStateless('tools/list')).body, {result: {resultType: 'complete'}});
	t.is((await requestStateless('nothing')).status, 404);
	t.is((await requestStateless('tools/call', {name: 'shutdown'}, {'mcp-name': 'other'})).status, 400);
});

test('accepts notifications and responses without a reply', async t => {
	const {post} = await start(t);
	for (const message of [
		'{"jsonrpc":"2.0","method":"notifications/initialized"}',
		'{"jsonrpc":"2.0","id":1,"result":{}}',
	]) {
		const {status, text} = await post(message);
		t.is(status, 202);
		t.is(text, '');
	}
});

test('responds to a ping with the id as it is written', async t => {
	const {post} = await start(t);
	for (const id of ['"a"', '1.0', '12345678901234567890'])
		t.is(
			(await post(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`)).text,
			`{"jsonrpc":"2.0","id":${id},"result":{}}`,
		);
});

test('rejects invalid messages', async t => {
	const {post, request} = await start(t);
	t.is(code(await post('{bad')), -32_700);
	t.is((await post('{bad')).status, 400);
	t.is(code(await post('[]')), -32_600);
	t.is(code(await post('{"jsonrpc":"2.0","id":{},"method":"ping"}')), -32_600);
	t.is(code(await request('nothing')), -32_601);
	t.is((await request('ping', {}, {'mcp-protocol-version': 'x'})).status, 400);
});

test('serves only /mcp, and only authorized POST requests with JSON [I10]', async t => {
	const {send, request, log} = await start(t);
	const headers = {'content-type': 'application/json'};
	for (const path of ['/', '/mcp/', '/mcp/constructor', '/MCP', '//mcp'])
		t.true([400, 404].includes((await send({body: '{}', headers}, path)).status), path);
	for (const method of ['GET', 'DELETE', 'PUT']) {
		const {status, headers: replyHeaders} = await send({method});
		t.is(status, 405);
		t.is(replyHeaders.get('allow'), 'POST');
	}
	t.is((await send({body: '{}', headers: {'content-type': 'text/plain'}})).status, 415);
	t.is((await request('ping', {}, {origin: 'http://evil.example'})).status, 403);
	t.is((await request('ping', {}, {origin: 'null'})).status, 403);
	t.is((await request('ping', {}, {accept: 'text/html'})).status, 406);
	t.deepEqual(new Set(log.events), new Set(['http.origin_rejected']));
});

test('sends the response as an event to a client that accepts only events [REQ_MCP_026]', async t => {
	const {request} = await start(t);
	const {headers, text} = await request('ping', {}, {accept: 'text/event-stream'});
	t.is(headers.get('content-type'), 'text/event-stream');
	t.is(text, 'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
});

test('listens on both loopback addresses, and reports a port that is in use', async t => {
	const {send, port, servers} = await start(t);
	const headers = {'content-type': 'application/json'};
	const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
	if (servers.length > 1) t.is((await send({body, headers}, '/mcp', '[::1]')).status, 200);
	await t.throwsAsync(listenLocally({port, handle: () => {}, onBug}), {
		message: `Port ${port} already in use.`,
	});
});

test('adds a rule, which accepts connections at once, and removes it', async t => {
	const {call} = await start(t);
	const {port, servers} = await listenLocally({port: 0, handle: () => {}, onBug});
	for (const server of servers) server.close();
	const text = (words: string): Json => ({result: {content: [{type: 'text', text: words}]}});
	const rule = {local_port: port, target_host: 'localhost', target_port: 1};
	t.like(await call('add-port-rule', rule), text(`Port rule added: ${port} -> localhost:1`));
	await once(client(t, port), 'connect');
	t.like(await call('add-port-rule', rule), {error: {code: -32_602, message: `Port ${port} already in use`}});
	t.like(await call('remove-port-rule', {local_port: port}), text(`Port rule removed: ${port}`));
	t.like(await call('remove-port-rule', {local_port: port}), {error: {message: `Port ${port} not found`}});
});

for (const [name, args] of [
	['add-port-rule', {}],
	['add-port-rule', undefined],
	['add-port-rule', []],
	['add-port-rule', {local_port: '80', target_host: 'a', target_port: 1}],
	['remove-port-rule', {local_port: '80'}],
	['start-logging', {directory: 7}],
	['start-logging', {directory: ''}],
	['start-logging', {directory: 'a\0b'}],
	['start-logging', {filename_format: 7}],
	['stop-logging', {directory: 'nowhere'}],
	['nothing', {}],
	['constructor', {}],
	[undefined, {}],
] as const)
	test(`${name} with ${JSON.stringify(args)} returns a JSON-RPC error [I7]`, async t => {
		const {call} = await start(t);
		const body = await call(name as string, args);
		t.like(body, {error: {code: -32_602}});
		t.true(String((body.error as Json).message).length > 5);
	});

test('starts and stops logging', async t => {
	const {call, folder} = await start(t);
	const directory = join(folder, 'logs');
	const resultText = async (name: string, args: Json): Promise<unknown> =>
		((await call(name, args)).result as {content: Array<{text: string}>}).content[0]?.text;
	t.is(await resultText('start-logging', {directory}), `Logging started: ${directory}`);
	t.is(await resultText('start-logging', {}), 'Logging started: STDOUT');
	t.is(await resultText('stop-logging', {directory: null}), 'Logging stopped: STDOUT');
	t.is(await resultText('stop-logging', {}), `Logging stopped: ${directory}`);
	t.is(await resultText('stop-logging', {}), 'Nothing was being logged');
});

test('responds to shutdown [REQ_MCP_016]', async t => {
	const {call, ended} = await start(t);
	t.like(await call('shutdown', {}), {result: {content: [{type: 'text', text: 'Shutting down'}]}});
	t.is(ended(), 1);
});

test('lists five tools with their schemas [REQ_MCP_039]', async t => {
	const {request} = await start(t);
	const {tools} = (await request('tools/list')).body.result as {
		tools: Array<{name: string; description: string; inputSchema: {properties: Json; required?: string[]}}>;
	};
	t.deepEqual(
		tools.map(({name, inputSchema: {properties, required}}) => [name, Object.keys(properties), required]),
		[
			['start-logging', ['directory', 'filename_format'], undefined],
			['stop-logging', ['directory'], undefined],
			[
				'add-port-rule',
				['local_port', 'target_host', 'target_port'],
				['local_port', 'target_host', 'target_port'],
			],
			['remove-port-rule', ['local_port'], ['local_port']],
			['shutdown', [], undefined],
		],
	);
	t.true(tools.every(({description}) => description.length > 10));
});
