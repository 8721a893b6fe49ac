import test from 'ava';
import type {Message} from '../../helpers/bridge.js';
import {freePort} from '../../helpers/free-port.js';
import {shareRaw, startRaw} from './support.js';
import {exchange} from './tcp.js';

const shared = shareRaw(() => ['--mcp-port', '0', '--flush-millis', '20']);

/** Sends a request byte for byte and returns the message of the response. */
async function sendExact(endpoint: string, headers: readonly string[], body: string): Promise<Message> {
	const {host, port} = new URL(endpoint);
	const head = [
		'POST /mcp HTTP/1.1',
		`Host: ${host}`,
		...headers,
		`Content-Length: ${Buffer.byteLength(body)}`,
	];
	const text = `${head.join('\r\n')}\r\nConnection: close\r\n\r\n${body}`;
	const {reply} = await exchange(Number(port), text);
	const [first = '', ...rest] = String(reply).split('\r\n\r\n');
	if (!first.startsWith('HTTP/1.1 200 OK')) throw new Error(first);
	if (!/^content-type: application\/json/im.test(first)) throw new Error(`Not JSON: ${first}`);
	return JSON.parse(rest.join('\r\n\r\n')) as Message;
}

const JSON_TYPE = 'Content-Type: application/json';

test('responds to the documented initialize request in the documented form [REQ_MCP_008] [REQ_MCP_026]', async t => {
	const headers = ['Accept: application/json, text/event-stream', JSON_TYPE];
	const response = await sendExact(
		shared().endpoint,
		headers,
		`{
  "jsonrpc": "2.0",
  "method": "initialize",
  "id": 1,
  "params": {
    "protocolVersion": "2024-11-05",
    "capabilities": {},
    "clientInfo": {"name": "a-client", "version": "1.0.0"}
  }
}`,
	);
	const {serverInfo} = response.result as {serverInfo: {version: string}};
	t.regex(serverInfo.version, /^\d+\.\d+\.\d+/);
	t.deepEqual(response, {
		jsonrpc: '2.0',
		result: {
			protocolVersion: '2024-11-05',
			capabilities: {tools: {}},
			serverInfo: {name: 'rawprox', version: serverInfo.version},
		},
		id: 1,
	});
});

test('lists tools without a session, without Accept and with empty params [REQ_MCP_009]', async t => {
	const body = '{\n  "jsonrpc": "2.0",\n  "method": "tools/list",\n  "id": 2,\n  "params": {}\n}';
	const {id, result} = await sendExact(shared().endpoint, [JSON_TYPE], body);
	t.is(id, 2);
	const {tools} = result as {tools: ReadonlyArray<{name: string; inputSchema: Message}>};
	t.is(tools.length, 5);
	const shutdown = tools.find(({name}) => name === 'shutdown');
	t.deepEqual(shutdown?.inputSchema.properties, {});
});

test('adds a rule once and rejects it the second time [REQ_MCP_010] [REQ_MCP_011]', async t => {
	const port = await freePort();
	const body = `{
  "jsonrpc": "2.0",
  "method": "tools/call",
  "id": 3,
  "params": {
    "name": "add-port-rule",
    "arguments": {"local_port": ${port}, "target_host": "api.example.com", "target_port": 443}
  }
}`;
	const added = await sendExact(shared().endpoint, [JSON_TYPE], body);
	t.deepEqual(added, {
		jsonrpc: '2.0',
		result: {content: [{type: 'text', text: `Port rule added: ${port} -> api.example.com:443`}]},
		id: 3,
	});
	const rejected = await sendExact(shared().endpoint, [JSON_TYPE], body);
	const {error, ...rest} = rejected;
	t.deepEqual(rest, {jsonrpc: '2.0', id: 3});
	t.like(error, {code: -32602, message: `Port ${port} already in use`});
});

test('responds to a shutdown with empty arguments and exits [REQ_MCP_016]', async t => {
	const raw = await startRaw(t, ['--mcp-port', '0']);
	const body = '{"jsonrpc":"2.0","method":"tools/call","id":4,"params":{"name":"shutdown","arguments":{}}}';
	const {id, result} = await sendExact(raw.endpoint, [JSON_TYPE], body);
	t.is(id, 4);
	t.truthy((result as Message).content);
	t.deepEqual(await raw.running.exited, {code: 0, signal: null});
});
