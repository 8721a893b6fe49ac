import test from 'ava';
import type {Message} from '../../helpers/bridge.js';
import {ask, failureOf, postText, toolsOf} from './control.js';
import {shareRaw} from './support.js';

const shared = shareRaw(() => ['--mcp-port', '0', '--flush-millis', '20']);

const initialize = (protocolVersion: unknown = '2024-11-05'): Promise<Message> =>
	ask(shared().endpoint, 'initialize', {
		protocolVersion,
		capabilities: {},
		clientInfo: {name: 'example-client', version: '1.0.0'},
	});
const resultOf = async (response: Promise<Message>): Promise<Message> => (await response).result as Message;

const BOTH = {accept: 'application/json, text/event-stream'};
const PING = '{"jsonrpc":"2.0","method":"ping","id":1}';

test('responds to a client that accepts JSON and SSE with one of the two [REQ_MCP_007]', async t => {
	const {status, headers, text} = await postText(shared().endpoint, PING, BOTH);
	t.is(status, 200);
	t.regex(headers.get('content-type') ?? '', /^(?:application\/json|text\/event-stream)/);
	t.regex(text, /\{"jsonrpc":"2\.0".*"result":\{\}/);
});

test('accepts requests only at /mcp [REQ_MCP_021]', async t => {
	t.is((await postText(shared().endpoint, PING)).status, 200);
	for (const path of ['/', '/mcp/', '/mcp/x', '/MCP', '/sse', '/mcp2', '/m%63p'])
		t.is((await postText(new URL(path, shared().endpoint).href, PING)).status, 404, path);
});

test('negotiates 2024-11-05 with a client of that version [REQ_MCP_022]', async t => {
	t.is((await resultOf(initialize())).protocolVersion, '2024-11-05');
});

test('responds to initialize with version, capabilities and serverInfo [REQ_MCP_008]', async t => {
	const result = await resultOf(initialize());
	for (const key of ['protocolVersion', 'capabilities', 'serverInfo']) t.true(key in result, key);
});

test('responds to initialize with the name and the version of the server [REQ_MCP_019]', async t => {
	const {serverInfo} = (await resultOf(initialize())) as {serverInfo: Message};
	t.is(serverInfo.name, 'rawprox');
	t.regex(String(serverInfo.version), /^\d+\.\d+/);
});

test('accepts any protocolVersion, capabilities and clientInfo in initialize [REQ_MCP_027]', async t => {
	const params = {
		protocolVersion: '2024-11-05',
		capabilities: {roots: {listChanged: true}, sampling: {}, experimental: {x: {}}},
		clientInfo: {name: 'c', version: '2', title: 'C'},
	};
	t.is((await resultOf(ask(shared().endpoint, 'initialize', params))).protocolVersion, '2024-11-05');
});

test('responds to initialize with tools as an object among the capabilities [REQ_MCP_028]', async t => {
	const {protocolVersion, capabilities, serverInfo} = await resultOf(initialize());
	t.is(protocolVersion, '2024-11-05');
	t.is(typeof (capabilities as Message).tools, 'object');
	t.deepEqual(Object.keys(serverInfo as Message).slice(0, 2), ['name', 'version']);
});

test('responds to tools/list with tools and their input schemas [REQ_MCP_009]', async t => {
	const tools = await toolsOf(shared().endpoint);
	t.true(tools.length > 0);
	for (const {inputSchema} of tools) t.is(inputSchema.type, 'object');
});

test('lists exactly five tools [REQ_MCP_039]', async t => {
	t.deepEqual((await toolsOf(shared().endpoint)).map(({name}) => name).sort(), [
		'add-port-rule',
		'remove-port-rule',
		'shutdown',
		'start-logging',
		'stop-logging',
	]);
});

test('each tool has a name, a description and an inputSchema [REQ_MCP_029]', async t => {
	for (const {name, description, inputSchema} of await toolsOf(shared().endpoint)) {
		t.regex(name, /^[a-z-]+$/);
		t.true(description.length > 10);
		t.is(typeof inputSchema, 'object');
	}
});

/** The types of the arguments of a tool, and the required ones. */
async function schemaOf(name: string) {
	const tool = (await toolsOf(shared().endpoint)).find(each => each.name === name);
	const {properties = {}, required = []} = tool?.inputSchema ?? {};
	const types = Object.fromEntries(Object.entries(properties).map(([key, {type}]) => [key, type]));
	return {types, required};
}

test('the schema of start-logging has an optional folder or null and filename_format [REQ_MCP_034]', async t => {
	t.deepEqual(await schemaOf('start-logging'), {
		types: {directory: ['string', 'null'], filename_format: 'string'},
		required: [],
	});
});

test('the schema of stop-logging has an optional folder or null [REQ_MCP_035]', async t => {
	t.deepEqual(await schemaOf('stop-logging'), {types: {directory: ['string', 'null']}, required: []});
});

test('the schema of add-port-rule requires two ports and a host [REQ_MCP_036]', async t => {
	t.deepEqual(await schemaOf('add-port-rule'), {
		types: {local_port: 'integer', target_host: 'string', target_port: 'integer'},
		required: ['local_port', 'target_host', 'target_port'],
	});
});

test('the schema of remove-port-rule requires a port [REQ_MCP_037]', async t => {
	t.deepEqual(await schemaOf('remove-port-rule'), {
		types: {local_port: 'integer'},
		required: ['local_port'],
	});
});

test('the schema of shutdown has no arguments [REQ_MCP_038]', async t => {
	t.deepEqual(await schemaOf('shutdown'), {types: {}, required: []});
});

test('requires the content type application/json for POST [REQ_MCP_025]', async t => {
	const {endpoint} = shared();
	for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON'])
		t.is((await postText(endpoint, PING, {'content-type': type})).status, 200, type);
	t.is((await postText(endpoint, PING, {'content-type': 'text/plain'})).status, 415);
});

test('accepts an Accept header with JSON and SSE, JSON only or */*, or none [REQ_MCP_026]', async t => {
	const {endpoint} = shared();
	for (const accept of ['application/json, text/event-stream', 'application/json', '*/*'])
		t.is((await postText(endpoint, PING, {accept})).status, 200, accept);
	const {hostname, port} = new URL(endpoint);
	const {request} = await import('node:http');
	const status = await new Promise((resolve, reject) => {
		const req = request({hostname, port, path: '/mcp', method: 'POST'}, res => {
			res.resume();
			resolve(res.statusCode);
		});
		req.on('error', reject);
		req.setHeader('content-type', 'application/json');
		req.end(PING);
	});
	t.is(status, 200);
});

test('responds to a notification with 202 and an empty body', async t => {
	for (const method of ['notifications/initialized', 'notifications/cancelled', 'notifications/unknown']) {
		const {status, text} = await postText(shared().endpoint, JSON.stringify({jsonrpc: '2.0', method}), BOTH);
		t.is(status, 202);
		t.is(text, '');
	}
});

test('responds to GET and DELETE with 405 and the allowed methods', async t => {
	for (const method of ['GET', 'DELETE']) {
		const response = await fetch(shared().endpoint, {method, headers: {accept: 'text/event-stream'}});
		await response.text();
		t.is(response.status, 405);
		t.regex(response.headers.get('allow') ?? '', /POST/);
	}
});

test('neither assigns nor requires a session id', async t => {
	const {headers} = await postText(shared().endpoint, PING, BOTH);
	t.is(headers.get('mcp-session-id'), null);
});

for (const [version, negotiated] of [
	['2025-03-26', '2025-03-26'],
	['2025-06-18', '2025-06-18'],
	['2025-11-25', '2025-11-25'],
	['1999-01-01', '2025-11-25'],
	['2099-01-01', '2025-11-25'],
] as const)
	test(`responds to a client that requests ${version} with ${negotiated}`, async t => {
		const {protocolVersion} = await resultOf(initialize(version));
		t.is(protocolVersion, negotiated);
	});

test('responds to a server/discover probe with the supported versions', async t => {
	const version = '2026-07-28';
	const meta = {
		'io.modelcontextprotocol/protocolVersion': version,
		'io.modelcontextprotocol/clientInfo': {name: 'c', version: '1'},
		'io.modelcontextprotocol/clientCapabilities': {},
	};
	const body = {jsonrpc: '2.0', id: 'probe', method: 'server/discover', params: {_meta: meta}};
	const headers = {...BOTH, 'mcp-protocol-version': version, 'mcp-method': 'server/discover'};
	const {status, message} = await postText(shared().endpoint, JSON.stringify(body), headers);
	t.is(status, 200);
	const {supportedVersions} = message.result as {supportedVersions: readonly string[]};
	t.true(supportedVersions.includes(version));
});

test('rejects invalid JSON with -32700 and no id', async t => {
	for (const body of ['{', 'nonsense', '', '{"jsonrpc":"2.0","id":1,"method":"ping"']) {
		const {message} = await postText(shared().endpoint, body);
		t.is(failureOf(message).code, -32700, body);
		t.true(message.id === null || message.id === undefined);
	}
});

test('rejects an unknown method with -32601', async t => {
	for (const method of ['nope', 'resources/list', 'constructor', '__proto__'])
		t.is(failureOf(await ask(shared().endpoint, method)).code, -32601, method);
});

test('rejects JSON that is not a request with -32600', async t => {
	for (const body of ['7', '"x"', 'null', '{}', '{"jsonrpc":"1.0","id":1,"method":"ping"}', '{"id":1}']) {
		const {message} = await postText(shared().endpoint, body);
		t.is(failureOf(message).code, -32600, body);
	}
});

test('rejects a batch', async t => {
	const {status, message} = await postText(shared().endpoint, `[${PING}]`);
	t.is(status, 400);
	t.is(failureOf(message).code, -32600);
});

for (const id of ['0', '"text"', '9007199254740993', '1.5', '-3', '""'])
	test(`preserves the spelling of the id ${id}`, async t => {
		const body = `{"jsonrpc":"2.0","method":"ping","id":${id}}`;
		const {text} = await postText(shared().endpoint, body);
		t.true(text.includes(`"id":${id}`), text);
	});
