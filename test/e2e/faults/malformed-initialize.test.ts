import process from 'node:process';
import test from 'ava';
import {Client} from 'sdk-2025-11-25/client/index.js';
import {StdioClientTransport} from 'sdk-2025-11-25/client/stdio.js';
import {StreamableHTTPClientTransport} from 'sdk-2025-11-25/client/streamableHttp.js';
import {bridgeBin, type Message} from '../../helpers/bridge.js';
import {startGateway} from '../../helpers/gateway.js';
import {stdinMessages} from '../../helpers/ndjson.js';
import {logged, start, until} from '../../helpers/program.js';

/** A server with one tool that responds to `initialize` with the JSON text of its first argument. */
const script = `${stdinMessages}.on('data', ({id, method}) => {
	const tool = {name: 'greet', inputSchema: {type: 'object'}};
	const result = method === 'initialize' ? process.argv[1]
		: JSON.stringify(method === 'tools/list' ? {tools: [tool]} : {content: [{type: 'text', text: 'hello'}]});
	if (id !== undefined) console.log('{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',"result":' + result + '}');
});`;
const serverOf = (result: string): string[] => [process.execPath, '-e', script, result];

const valid = {
	protocolVersion: '2025-06-18',
	capabilities: {tools: {}},
	serverInfo: {name: 'raw', version: '1'},
};
const withInfo = (serverInfo: unknown): string => JSON.stringify({...valid, serverInfo});
const withCapabilities = (capabilities: unknown): string => JSON.stringify({...valid, capabilities});
const withMember = (name: string, value: unknown): string => JSON.stringify({...valid, [name]: value});

/** The invalid part, the result as JSON, and the repaired parts that a client receives. */
const cases: ReadonlyArray<readonly [title: string, result: string, expected: Message]> = [
	['no name', withInfo({version: '2'}), {info: {name: 'unknown', version: '2'}}],
	['no version', withInfo({name: 'raw'}), {info: {name: 'raw', version: '0'}}],
	['an empty serverInfo', withInfo({}), {info: {name: 'unknown', version: '0'}}],
	['a number as its version', withInfo({name: 'raw', version: 3}), {info: {name: 'raw', version: '3'}}],
	[
		'1.0 as its version',
		'{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"raw","version":1.0}}',
		{info: {name: 'raw', version: '1'}},
	],
	[
		'invalid optional members of serverInfo',
		withInfo({name: 'raw', version: '1', title: null, icons: null, websiteUrl: 5}),
		{info: {name: 'raw', version: '1'}},
	],
	...[{sizes: '48x48'}, {mimeType: null}, {theme: 'blue'}, {src: null}].map(
		icon =>
			[
				`an icon with ${JSON.stringify(icon)} in serverInfo`,
				withInfo({name: 'raw', version: '1', icons: [{src: 'https://example.com/icon.png', ...icon}]}),
				{info: {name: 'raw', version: '1'}},
			] as const,
	),
	['null as tools', withCapabilities({tools: null}), {capabilities: {}}],
	['true as tools', withCapabilities({tools: true}), {capabilities: {tools: {}}}],
	['an array as tools', withCapabilities({tools: []}), {capabilities: {tools: {}}}],
	[
		'invalid booleans in its capabilities',
		withCapabilities({tools: {listChanged: null}, resources: {subscribe: 'yes'}, prompts: false}),
		{capabilities: {tools: {}, resources: {}}},
	],
	[
		'invalid objects in nested capabilities',
		withCapabilities({
			experimental: {a: null, b: true},
			tasks: {list: true, requests: {tools: {call: null}}},
		}),
		{capabilities: {experimental: {b: {}}, tasks: {list: {}, requests: {tools: {}}}}},
	],
	['null as instructions', withMember('instructions', null), {}],
	['an invalid _meta', withMember('_meta', 'none'), {}],
	['no capabilities', withMember('capabilities', undefined), {capabilities: {}}],
];

for (const [title, result, {info, capabilities}] of cases)
	test(`an SDK client connects to a server that sends ${title} [A-D3]`, async t => {
		const client = new Client({name: 'test', version: '1'});
		const args = [bridgeBin, '--', ...serverOf(result)];
		await client.connect(new StdioClientTransport({command: process.execPath, args, stderr: 'pipe'}));
		if (info) t.deepEqual(client.getServerVersion() as unknown, info);
		if (capabilities) t.deepEqual(client.getServerCapabilities() as unknown, capabilities);
		const {content} = await client.callTool({name: 'greet'});
		t.deepEqual(content, [{type: 'text', text: 'hello'}]);
		await client.close();
	});

test('logs repaired members of an initialize result, and forwards valid results unchanged [A-D3]', async t => {
	const broken = withCapabilities({tools: null, prompts: {}});
	const bridge = start(t, ['--', ...serverOf(broken)]);
	await bridge.shakeHands();
	await until(() => logged(bridge, 'proxy.initialize.repaired').length > 0);
	t.like(logged(bridge, 'proxy.initialize.repaired'), [{level: 40, members: ['capabilities.tools']}]);
	const unusual =
		'{"protocolVersion":"2025-11-25","capabilities":{"tools":{"x":1.0}},"serverInfo":{"name":"raw", "version":"1"}}';
	const other = start(t, ['--', ...serverOf(unusual)]);
	await other.shakeHands();
	t.true(other.lines[0]?.includes('"capabilities":{"tools":{"x":1.0}},"serverInfo":{"name":"raw"'));
	t.deepEqual(logged(other, 'proxy.initialize.repaired'), []);
});

test('an SDK client connects to a server with null in its result through the gateway and the hub [A-D3]', async t => {
	const nulls = JSON.stringify({
		...valid,
		capabilities: {tools: {listChanged: null}, logging: null},
		serverInfo: {name: 'raw', version: null, title: null},
		instructions: null,
	});
	const [command, ...args] = serverOf(nulls);
	const gateway = await startGateway(t, {expose: 'tools', servers: {raw: {command, args}}});
	for (const [path, name] of [
		['/mcp/raw', 'greet'],
		['/mcp', 'raw__greet'],
	] as const) {
		const client = new Client({name: 'test', version: '1'});
		const transport = new StreamableHTTPClientTransport(new URL(path, gateway.base));
		await client.connect(transport as Parameters<Client['connect']>[0]);
		t.deepEqual(
			(await client.listTools()).tools.map(tool => tool.name),
			[name],
		);
		await client.close();
	}
});
