import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {newFolder, until} from '../../helpers/program.js';
import {inlineServer} from './inline-server.js';
import {type GatewayConfig, logged, type RunningHub, shop, startHub, textIn} from './support.js';

const run = async (hub: RunningHub, command: string): Promise<string> =>
	textIn(await hub.call('run', {command}));

async function startWithPacks(
	t: ExecutionContext,
	modules: {readonly [name: string]: string},
	servers: GatewayConfig,
): Promise<RunningHub> {
	const packs = join(await newFolder(t), 'packs');
	await mkdir(packs);
	for (const [name, source] of Object.entries(modules)) await writeFile(join(packs, name), source);
	return startHub(t, {servers, packs});
}

const broken = {command: 'no-such-command-anywhere'};
const off = {...shop('off'), enabled: false};

test('list_servers shows the protocol version and the pack of each upstream [A-G7] [HUB-16]', async t => {
	const older = inlineServer(
		`const {initialize} = methods; methods.initialize = p => ({...initialize(p), protocolVersion: '2025-03-26'});`,
	);
	const hub = await startHub(t, {servers: {'my-shop': shop('wix'), import: older, broken, off}});
	const servers = JSON.parse(await run(hub, 'proxy.list_servers()')) as Array<{readonly error?: string}>;
	t.deepEqual(
		servers.map(({error: _, ...fields}) => fields),
		[
			{
				name: 'my-shop',
				pack: 'my_shop',
				type: 'stdio',
				enabled: true,
				connected: true,
				protocolVersion: '2025-11-25',
			},
			{
				name: 'import',
				pack: 'import_',
				type: 'stdio',
				enabled: true,
				connected: true,
				protocolVersion: '2025-03-26',
			},
			{name: 'broken', pack: 'broken', type: 'stdio', enabled: true, connected: false},
			{name: 'off', type: 'stdio', enabled: false, connected: false},
		],
	);
});

test('list_tools of an unknown upstream lists the connected ones; of a failed one, it reports the reason [A-D11] [HUB-18]', async t => {
	const hub = await startHub(t, {servers: {wix: shop('wix'), broken, off}});
	t.is(
		await run(hub, 'proxy.list_tools(server="nonexistent")'),
		"Error at line 1: ValueError: Server 'nonexistent' not connected. Available: wix",
	);
	t.regex(
		await run(hub, 'proxy.list_tools(server="broken")'),
		/ToolError: Server 'broken' not connected: no-such-command-anywhere could not be started/,
	);
	t.is(
		await run(hub, 'proxy.list_tools(server="off")'),
		"Error at line 1: ToolError: Server 'off' not connected: it is disabled (enabled: false)",
	);
});

test('merges a local pack with the upstream of the same name and logs one collision [A-D10]', async t => {
	const modules = {'wix.mjs': 'export const search = () => "local";'};
	const hub = await startWithPacks(t, modules, {wix: shop('wix')});
	t.is(await run(hub, 'wix.search(query="x")'), 'local');
	t.is(await run(hub, 'wix.list_sites()[0].name'), 'wix north');
	const names = JSON.parse(await run(hub, '[t.name for t in proxy.list_tools(server="wix")]')) as string[];
	t.is(names.length, 12);
	t.true(names.includes('search') && names.includes('list_sites'));
	await until(() => logged(hub.running, 'run.pack.collision').length > 0);
	const [warning, ...others] = logged(hub.running, 'run.pack.collision');
	t.like(warning, {level: 40, pack: 'wix'});
	t.deepEqual(others, []);
});

test('warns about a local pack and an upstream named proxy, with their names in run [A-D10]', async t => {
	const modules = {'proxy.mjs': 'export const mine = () => "local";'};
	const hub = await startWithPacks(t, modules, {proxy: shop('p')});
	t.is(await run(hub, 'proxy_.mine()'), 'local');
	t.is(await run(hub, 'proxy_.search(query="x")'), '{"hits":["p: x"]}');
	await until(() => logged(hub.running, 'run.pack.reserved').length === 2);
	t.deepEqual(
		logged(hub.running, 'run.pack.reserved').map(({level, pack, source}) => [level, pack, source]),
		[
			[40, 'proxy_', 'local'],
			[40, 'proxy_', 'proxied'],
		],
	);
});

const undeclared = `methods.initialize = ({protocolVersion}) =>
	({protocolVersion, capabilities: {}, serverInfo: {name: 'inline', version: '1'}});
methods['tools/call'] = () => ({content: [{type: 'text', text: 'acted'}]});`;

for (const [expose, name, args] of [
	['run', 'run', {command: 'bare.act()'}],
	['tools', 'bare__act', {}],
] as const)
	test(`expose: ${expose} lists the tools of an upstream that omits capabilities.tools and warns [A-G8]`, async t => {
		const hub = await startHub(t, {expose, servers: {bare: inlineServer(undeclared)}});
		t.true(JSON.stringify(await hub.ask('tools/list')).includes('act'));
		t.is(textIn(await hub.call(name, args)), 'acted');
		await until(() => logged(hub.running, 'hub.tools.undeclared').length > 0);
		t.like(logged(hub.running, 'hub.tools.undeclared')[0], {level: 40, server: 'bare'});
	});

test('connects an upstream without tools that ignores tools/list [A-G8]', async t => {
	const silent = `${undeclared}\nmethods['tools/list'] = () => undefined;`;
	const hub = await startHub(t, {servers: {bare: inlineServer(silent), wix: shop('wix')}});
	t.is(await run(hub, 'proxy.list_servers()[0].connected'), 'true');
	t.is(await run(hub, 'wix.list_sites()[0].name'), 'wix north');
	t.deepEqual(logged(hub.running, 'hub.tools.undeclared'), []);
});

for (const [what, result, length] of [
	['text', {content: [{type: 'text', text: 'a'}]}, 1],
	[
		'texts',
		{
			content: [
				{type: 'text', text: 'ä😀'},
				{type: 'text', text: 'b'},
			],
		},
		5,
	],
	[
		'text beside structured content',
		{content: [{type: 'text', text: '12345'}], structuredContent: {a: 1}},
		5,
	],
	['the text of a resource', {content: [{type: 'resource', resource: {uri: 'x:y', text: 'hello'}}]}, 5],
	['structured content alone', {content: [], structuredContent: {a: 'ä'}}, 9],
] as const)
	test(`logs the length of the result string as resultLength, for ${what} [A-D8] [HUB-14]`, async t => {
		const server = inlineServer(`methods['tools/call'] = () => (${JSON.stringify(result)});`);
		const hub = await startHub(t, {expose: 'both', servers: {s: server}});
		await hub.call('s__act');
		await run(hub, 's.act()');
		await until(() => logged(hub.running, 'proxy.tool.call').length === 2);
		for (const entry of logged(hub.running, 'proxy.tool.call'))
			t.like(entry, {server: 's', tool: 'act', resultLength: length, status: 'SUCCESS'});
	});

test('a program can await tool calls with asyncio [A-G9]', async t => {
	const hub = await startHub(t, {servers: {wix: shop('wix')}});
	t.is(await run(hub, 'await wix.search(query="x")'), '{"hits":["wix: x"]}');
	const program = [
		'import asyncio',
		'async def main():',
		'    sites, found = await asyncio.gather(wix.list_sites(), wix.search(query="x"))',
		'    return [sites[0].name, found.hits]',
		'asyncio.run(main())',
	];
	t.is(await run(hub, program.join('\n')), '["wix north",["wix: x"]]');
});
