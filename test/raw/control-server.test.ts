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
	const ask = (method: string, params?: Json, headers = {}): Promise<Reply> =>
		post(JSON.stringify({jsonrpc: '2.0', id: 1, method, params}), headers);
	const call = async (name: string, args?: unknown): Promise<Json> =>
		(await ask('tools/call', {name, arguments: args})).body;
	return {log, send, post, ask, call, port, servers, ended: () => ended, folder: tempFolder(t)};
}

const code = ({body}: Pick<Reply, 'body'>): unknown => (body.error as Json | undefined)?.code;

for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])
	test(`a client that asks for ${version} is answered in it [MCP_008]`, async t => {
		const {ask} = await start(t);
		const {status, body} = await ask('initialize', {protocolVersion: version, capabilities: {}});
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

test('who asks for no version, or an unknown one, is offered one [MCP_022]', async t => {
	const {ask} = await start(t);
	t.like((await ask('initialize', {})).body, {result: {protocolVersion: '2024-11-05'}});
	t.like((await ask('initialize', {protocolVersion: '1999-01-01'})).body, {
		result: {protocolVersion: '2025-11-25'},
	});
});

test('a modern client is answered on server/discover, and its calls as it expects', async t => {
	const {ask} = await start(t);
	const meta = {
		'io.modelcontextprotocol/protocolVersion': '2026-07-28',
		'io.modelcontextprotocol/clientCapabilities': {},
	};
	const modern = (method: string, params: Json = {}, headers = {}): Promise<Reply> =>
		ask(
			method,
			{...params, _meta: meta},
			{
				'mcp-protocol-version': '2026-07-28',
				'mcp-method': method,
				...headers,
			},
		);
	t.like((await modern('server/discover')).body, {result: {supportedVersions: ['2026-07-28']}});
	t.like((await modern('tools/list')).body, {result: {resultType: 'complete'}});
	t.is((await modern('nothing')).status, 404);
	t.is((await modern('tools/call', {name: 'shutdown'}, {'mcp-name': 'other'})).status, 400);
});

test('notifications and answers are heard, and that is all', async t => {
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

test('ping is answered under its own id, however it is written', async t => {
	const {post} = await start(t);
	for (const id of ['"a"', '1.0', '12345678901234567890'])
		t.is(
			(await post(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`)).text,
			`{"jsonrpc":"2.0","id":${id},"result":{}}`,
		);
});

test('what is no message is refused', async t => {
	const {post, ask} = await start(t);
	t.is(code(await post('{bad')), -32_700);
	t.is((await post('{bad')).status, 400);
	t.is(code(await post('[]')), -32_600);
	t.is(code(await post('{"jsonrpc":"2.0","id":{},"method":"ping"}')), -32_600);
	t.is(code(await ask('nothing')), -32_601);
	t.is((await ask('ping', {}, {'mcp-protocol-version': 'x'})).status, 400);
});

test('only /mcp is there, and only for POST of JSON by who may ask [I10]', async t => {
	const {send, ask, log} = await start(t);
	const headers = {'content-type': 'application/json'};
	for (const path of ['/', '/mcp/', '/mcp/constructor', '/MCP', '//mcp'])
		t.true([400, 404].includes((await send({body: '{}', headers}, path)).status), path);
	for (const method of ['GET', 'DELETE', 'PUT']) {
		const {status, headers: given} = await send({method});
		t.is(status, 405);
		t.is(given.get('allow'), 'POST');
	}
	t.is((await send({body: '{}', headers: {'content-type': 'text/plain'}})).status, 415);
	t.is((await ask('ping', {}, {origin: 'http://evil.example'})).status, 403);
	t.is((await ask('ping', {}, {origin: 'null'})).status, 403);
	t.is((await ask('ping', {}, {accept: 'text/html'})).status, 406);
	t.deepEqual(new Set(log.events), new Set(['http.origin_rejected']));
});

test('who takes events alone gets the answer as one [MCP_026]', async t => {
	const {ask} = await start(t);
	const {headers, text} = await ask('ping', {}, {accept: 'text/event-stream'});
	t.is(headers.get('content-type'), 'text/event-stream');
	t.is(text, 'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
});

test('is there on both addresses of this machine, and tells of a port that is taken', async t => {
	const {send, port, servers} = await start(t);
	const headers = {'content-type': 'application/json'};
	const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
	if (servers.length > 1) t.is((await send({body, headers}, '/mcp', '[::1]')).status, 200);
	await t.throwsAsync(listenLocally({port, handle: () => {}, onBug}), {
		message: `Port ${port} already in use.`,
	});
});

test('PORT a rule is added and takes connections at once, and removed', async t => {
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
	test(`${name} with ${JSON.stringify(args)} is an error of JSON-RPC [I7]`, async t => {
		const {call} = await start(t);
		const body = await call(name as string, args);
		t.like(body, {error: {code: -32_602}});
		t.true(String((body.error as Json).message).length > 5);
	});

test('LOG logging is started and stopped', async t => {
	const {call, folder} = await start(t);
	const directory = join(folder, 'logs');
	const said = async (name: string, args: Json): Promise<unknown> =>
		((await call(name, args)).result as {content: Array<{text: string}>}).content[0]?.text;
	t.is(await said('start-logging', {directory}), `Logging started: ${directory}`);
	t.is(await said('start-logging', {}), 'Logging started: STDOUT');
	t.is(await said('stop-logging', {directory: null}), 'Logging stopped: STDOUT');
	t.is(await said('stop-logging', {}), `Logging stopped: ${directory}`);
	t.is(await said('stop-logging', {}), 'Nothing was being logged');
});

test('shutdown is answered [MCP_016]', async t => {
	const {call, ended} = await start(t);
	t.like(await call('shutdown', {}), {result: {content: [{type: 'text', text: 'Shutting down'}]}});
	t.is(ended(), 1);
});

test('there are five tools, with their schemas [MCP_039]', async t => {
	const {ask} = await start(t);
	const {tools} = (await ask('tools/list')).body.result as {
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
