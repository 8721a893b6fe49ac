import {mkdir, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import test from 'ava';
import {runBridge} from '../../helpers/bridge.js';
import {newFolder, until} from '../../helpers/program.js';
import {errorIn, logged, shop, startHub, textIn} from './support.js';

const two = {servers: {wix: shop('wix'), 'my-notion': shop('notion')}};
const run = (command: string) => ({command});

test('passes a result of one upstream to another and returns both [HUB-9]', async t => {
	const hub = await startHub(t, two);
	const command = 'sites = wix.list_sites(); pages = my_notion.search(query=sites[0].name)';
	t.like(await hub.call('run', run(command)), {
		result: {
			structuredContent: {
				result: {sites: [{name: 'wix north'}, {name: 'wix south'}], pages: {hits: ['notion: wix north']}},
			},
			isError: false,
		},
	});
});

test('explains the notation in the description and lists the connected packs', async t => {
	const hub = await startHub(t, {...two, servers: {...two.servers, off: {...shop('off'), enabled: false}}});
	const {result} = await hub.ask('tools/list');
	const [tool] = (result as {readonly tools: ReadonlyArray<{readonly description: string}>}).tools;
	t.regex(tool?.description ?? '', /pack\.tool\(name=value\)/);
	t.regex(tool?.description ?? '', /^wix: list_sites, get_product, .*\+4$/m);
	t.regex(tool?.description ?? '', /^my_notion: /m);
	t.notRegex(tool?.description ?? '', /^off: /m);
});

test('cancels a call that exceeds its timeout in a run and reports the timeout [J5] [HUB-20]', async t => {
	const hub = await startHub(t, {servers: {wix: {...shop('wix'), timeout: '3s'}}});
	const response = await hub.call('run', run('wix.slow()'));
	t.like(response, {result: {isError: true}});
	t.regex(textIn(response), /wix\.slow timed out after 3\.0 ?s/);
	await hub.running.says(/wix cancelled/);
	t.is(textIn(await hub.call('run', run('wix.search(query="next")'))), '{"hits":["wix: next"]}');
});

for (const [how, command] of [
	['a plain call', 'wix.slow()'],
	['a program', 'for n in range(2):\n  wix.slow()'],
] as const)
	test(`cancels the calls of a run of ${how} that the client cancels, and sends no response`, async t => {
		const hub = await startHub(t, two);
		hub.running.send({id: 'c', method: 'tools/call', params: {name: 'run', arguments: {command}}});
		await hub.running.says(/wix is slow/);
		hub.running.send({method: 'notifications/cancelled', params: {requestId: 'c'}});
		await hub.running.says(/wix cancelled/);
		await hub.call('run', run('1'));
		t.false(hub.running.lines.some(line => line.includes('"id":"c"')));
	});

test('forwards a server request during a run to the client', async t => {
	const hub = await startHub(t, two, {capabilities: {elicitation: {}}});
	const response = hub.call('run', run('wix.ask()'));
	const {id} = await hub.running.message(({method}) => method === 'elicitation/create');
	hub.running.send({id, result: {action: 'accept', content: {colour: 'blue'}}});
	t.like(await response, {
		result: {structuredContent: {result: {action: 'accept', content: {colour: 'blue'}}}},
	});
});

test('reports why an upstream exited during a run until it is available again [A-D18] [HUB-25]', async t => {
	const file = join(await newFolder(t), 'open');
	await writeFile(file, '');
	const hub = await startHub(t, {servers: {wix: shop('wix', `--until=${file}`)}});
	await hub.toolNames();
	// The restarted child does not respond to initialize until the file exists.
	await rm(file);
	t.regex(
		textIn(await hub.call('run', run('wix.die()'))),
		/Server 'wix' unavailable: wix exited with code 7/,
	);
	t.regex(
		textIn(await hub.call('run', run('wix.search(query="x")'))),
		/^Error at line 1: ToolError: Server 'wix' unavailable: wix exited with code 7/,
	);
	await writeFile(file, '');
	await until(
		() => logged(hub.running, 'proxy.connect').filter(({status}) => status === 'SUCCESS').length === 2,
	);
	t.is(textIn(await hub.call('run', run('wix.search(query="x")'))), '{"hits":["wix: x"]}');
});

test('gives each of 20 concurrent runs its own result', async t => {
	const hub = await startHub(t, two);
	const responses = await Promise.all(
		Array.from({length: 20}, (_, at) => hub.call('run', run(`wix.echo(value=${at}).value`))),
	);
	t.deepEqual(
		responses.map(textIn),
		Array.from({length: 20}, (_, at) => String(at)),
	);
});

test('reports a missing command as a tool result, which models read', async t => {
	const hub = await startHub(t, two);
	t.like(await hub.call('run', {code: '1'}), {result: {isError: true}});
	t.is(errorIn(await hub.ask('tools/call', {arguments: {}})).code, -32602);
});

/** Writes a pack `wix`, named like the upstream, and a pack that fails to load. */
async function writePacks(folder: string): Promise<void> {
	await mkdir(join(folder, 'packs'));
	const source = [
		'/**',
		' * Adds up.',
		' * @param {number} a - one',
		' * @param {number} [b=1] the other',
		' */',
		'export function add(a, b = 1) { return {sum: a + b}; }',
		'export const join = ({words, by = "-"}) => words.join(by);',
		'export const fail = () => { throw new Error("not today"); };',
	];
	await writeFile(join(folder, 'packs', 'wix.mjs'), source.join('\n'));
	await writeFile(join(folder, 'packs', 'broken.mjs'), 'export const = 1;');
}

test("prefers a tool of a local pack over the upstream's and warns about a pack that fails to load [A-D10]", async t => {
	const folder = await newFolder(t);
	await writePacks(folder);
	const hub = await startHub(t, {...two, packs: join(folder, 'packs')});
	const value = async (command: string): Promise<string> => textIn(await hub.call('run', run(command)));
	t.is(await value('wix.add(a=2, b=40)'), '{"sum":42}');
	t.is(await value('wix.add(a=2)'), '{"sum":3}');
	t.is(await value('wix.join(words=["a", "b"])'), 'a-b');
	t.regex(await value('wix.fail()'), /ToolError: not today/);
	t.is(await value('wix.list_sites()[0].name'), 'wix north');
	t.regex(await value('proxy.help("wix.add")'), /Adds up\.\s[\s\S]*a: float – one/);
	t.is(await value('my_notion.search(query="x")'), '{"hits":["notion: x"]}');
	await until(() => logged(hub.running, 'run.pack.broken').length === 1);
});

test('rejects a hub that is its own upstream instead of starting more hubs [J4]', async t => {
	const hub = await startHub(t, two);
	const [bridge = '', ...args] = hub.running.child.spawnargs;
	await hub.configure({...two, servers: {...two.servers, self: {command: bridge, args}}});
	await hub.running.says(/"server":"self"[^\n]*This hub is one of its own servers/);
	t.regex(textIn(await hub.call('run', run('self.run(command="1")'))), /Server 'self' unavailable/);
});

test('reports a missing configuration file', async t => {
	const {code, stderr} = await runBridge(['hub'], '', {
		cwd: await newFolder(t),
		env: {PATH: process.env.PATH},
	});
	t.is(code, 2);
	t.regex(stderr, /No configuration file was found\. Add servers to bridge\.yaml/);
});

test('--print-client prints the configuration of each client', async t => {
	const file = join(await newFolder(t), 'bridge.json');
	await writeFile(file, JSON.stringify(two));
	for (const [client, pattern] of [
		['codex', /\[mcp_servers\.hub\]\ncommand = "\/.*"\nargs = \[".*","hub","--config",".*bridge\.json"\]/],
		['claude', /claude mcp add hub -- \S+ \S+bridge\.js hub --config \S+bridge\.json/],
		['cursor', /"mcpServers": \{\s+"hub": \{\s+"command": "\/.*node"/],
		['vscode', /"servers": \{\s+"hub": \{\s+"type": "stdio"/],
	] as const) {
		const {code, stdout, stderr} = await runBridge(['hub', '--config', file, '--print-client', client]);
		t.is(code, 0);
		t.regex(`${stderr}${stdout.join('\n')}`, pattern);
	}
});
