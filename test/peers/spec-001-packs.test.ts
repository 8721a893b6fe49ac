import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import test from 'ava';
import {type HubSettings, type RealHub, realServers, startRealHub, until} from './hub.js';

/* Spec 001: packs, their listings, and logging, with real servers and the real SDK's client. */

const all = (folder: string): HubSettings => ({servers: realServers(folder)});

let shared: RealHub | undefined;
const ends: Array<() => unknown> = [];

test.before(async () => {
	shared = await startRealHub({teardown: end => void ends.push(end)}, all);
});

test.after.always(async () => {
	for (const end of ends.reverse()) await end();
});

/** A hub that is shared by all tests without side effects. */
function sharedHub(): RealHub {
	if (!shared) throw new Error('The hub starts before the first test.');
	return shared;
}

test.serial('spec 001, Simple proxied tool call: calls the tool and returns its result [HUB-5]', async t => {
	const hub = sharedHub();
	t.is((await hub.run('everything.echo(message="next.js")')).text, 'Echo: next.js');
});

test.serial(
	'spec 001, Proxied tool with multiple arguments: passes all arguments to the tool [HUB-6]',
	async t => {
		const hub = sharedHub();
		t.is((await hub.run('everything.get_sum(a=2, b=40)')).text, 'The sum of 2 and 40 is 42.');
		const file = join(hub.folder, 'written.txt');
		await hub.run(`files.write_file(path=${JSON.stringify(file)}, content="both")`);
		t.is(await readFile(file, 'utf8'), 'both');
	},
);

test.serial('spec 001, Unknown proxy pack: the error lists the available packs [HUB-7]', async t => {
	const hub = sharedHub();
	const {text, isError} = await hub.run('unknown.some_tool()');
	t.true(isError);
	t.regex(text, /Unknown pack 'unknown'\. Available packs: everything, files, memory, proxy/);
});

test.serial('spec 001, Unknown tool in pack: the error lists the tools of the pack [HUB-8]', async t => {
	const hub = sharedHub();
	const {text, isError} = await hub.run('memory.nonexistent()');
	t.true(isError);
	t.regex(text, /Tool 'nonexistent' not found in pack 'memory'\. Available: .*read_graph, search_nodes/);
});

const TWO_CALLS = `
made = memory.create_entities(entities=[{"name": "Ada", "entityType": "person", "observations": []}])
echoed = everything.echo(message=made.entities[0].name)
`;

test.serial(
	'spec 001, Multiple proxy calls in one request: makes both calls and combines their results [HUB-9]',
	async t => {
		const hub = sharedHub();
		const {result} = await hub.run(TWO_CALLS);
		t.like(result, {made: {entities: [{name: 'Ada'}]}, echoed: 'Echo: Ada'});
		const {text} = await hub.run(
			'```python\n[everything.echo(message=e["name"]) for e in memory.read_graph().entities]\n```',
		);
		t.is(text, '["Echo: Ada"]');
	},
);

/** Creates a pack of this name with its own `echo`. */
async function withPack(folder: string, name: string): Promise<HubSettings> {
	await mkdir(join(folder, 'packs'));
	await writeFile(
		join(folder, 'packs', `${name}.mjs`),
		"/** Echoes locally. @param {string} message */\nexport const echo = message => 'local: ' + message;\n",
	);
	return {...all(folder), packs: './packs'};
}

test.serial('spec 001, Pack collision: prefers the local pack [HUB-10]', async t => {
	const hub = await startRealHub(t, folder => withPack(folder, 'everything'));
	t.is((await hub.run('everything.echo(message="test")')).text, 'local: test');
});

test.serial('spec 001, No collision: calls the proxied tool [HUB-11]', async t => {
	const hub = await startRealHub(t, folder => withPack(folder, 'brave'));
	t.is((await hub.run('everything.echo(message="test")')).text, 'Echo: test');
	t.is((await hub.run('brave.echo(message="test")')).text, 'local: test');
});

test.serial(
	'spec 001, Proxy initialization logging: proxy.init contains the counts of servers and tools [HUB-12]',
	async t => {
		const hub = await startRealHub(t, folder => {
			const {memory = {}, ...others} = realServers(folder);
			return {
				servers: {...others, memory: {...memory, enabled: false}, broken: {command: join(folder, 'none')}},
			};
		});
		await hub.tools();
		await until(() => hub.logged('proxy.init').length > 0);
		t.like(hub.logged('proxy.init')[0], {
			serverCount: 3,
			connected: 2,
			failed: 1,
			toolCount: 27,
			status: 'SUCCESS',
		});
	},
);

test.serial(
	'spec 001, Connection logging: proxy.connect contains server, type, tools and status [HUB-13]',
	async t => {
		const hub = sharedHub();
		await hub.tools();
		await until(() => hub.logged('proxy.init').length > 0);
		const spans = hub.logged('proxy.connect');
		for (const [server, toolCount] of [
			['everything', 13],
			['files', 14],
			['memory', 9],
		])
			t.like(
				spans.find(span => span.server === server),
				{server, toolCount, type: 'stdio', status: 'SUCCESS'},
			);
	},
);

test.serial(
	'spec 001, Tool call logging: proxy.tool.call contains server, tool, result length, duration and status [A-D18] [HUB-14]',
	async t => {
		const hub = sharedHub();
		const {length: before} = hub.logged('proxy.tool.call');
		const {text} = await hub.run('everything.echo(message="logged")');
		t.is(text, 'Echo: logged');
		await until(() => hub.logged('proxy.tool.call').length > before);
		const call = hub.logged('proxy.tool.call').at(-1);
		t.like(call, {server: 'everything', tool: 'echo', resultLength: text.length, status: 'SUCCESS'});
		t.is(typeof call?.duration, 'number');
	},
);

test.serial(
	'spec 001, Error logging: logs a failed call with the type and the message of its error [HUB-15]',
	async t => {
		const hub = sharedHub();
		const {isError, text} = await hub.run('files.read_text_file(path="/etc/passwd")');
		t.true(isError);
		t.regex(text, /^Error at line 1: ToolError: Access denied/);
		const isOfIt = ({server}: Readonly<Record<string, unknown>>): boolean => server === 'files';
		await until(() => hub.logged('proxy.tool.call').some(isOfIt));
		const call = hub.logged('proxy.tool.call').findLast(isOfIt);
		t.like(call, {server: 'files', tool: 'read_text_file', status: 'FAILED', errorType: 'ToolError'});
		t.regex(String(call?.errorMessage), /^Access denied/);
	},
);

test.serial(
	'spec 001, List proxy servers: returns name, type, enabled and connected of each server [HUB-16]',
	async t => {
		const hub = await startRealHub(t, folder => {
			const {memory = {}, files = {}} = realServers(folder);
			const servers = {files, memory: {...memory, enabled: false}, broken: {command: join(folder, 'none')}};
			return {servers};
		});
		const {result} = await hub.run('proxy.list_servers()');
		t.like(result, [
			{name: 'files', type: 'stdio', enabled: true, connected: true},
			{name: 'memory', type: 'stdio', enabled: false, connected: false},
			{name: 'broken', type: 'stdio', enabled: true, connected: false},
		]);
	},
);

test.serial('spec 001, List proxy tools: returns the tools of a server [HUB-17]', async t => {
	const hub = sharedHub();
	const {result} = await hub.run('proxy.list_tools(server="memory")');
	const names = (result as ReadonlyArray<{readonly name: string}>).map(({name}) => name);
	t.is(names.length, 9);
	t.true(names.includes('read_graph'));
});

test.serial('spec 001, Unknown server for list_tools: the error lists the servers [HUB-18]', async t => {
	const hub = sharedHub();
	const {text, isError} = await hub.run('proxy.list_tools(server="nonexistent")');
	t.true(isError);
	t.regex(text, /Server 'nonexistent' not connected\. Available: everything, files, memory/);
});

test.serial('spec 001, Async tool call: waits for a slow tool [HUB-19]', async t => {
	const hub = sharedHub();
	const {text} = await hub.run('everything.trigger_long_running_operation(duration=1, steps=2)');
	t.regex(text, /^Long running operation completed/);
});

test.serial(
	'spec 001, Timeout handling: the error contains the tool and the timeout, and the call is cancelled [HUB-20]',
	async t => {
		const hub = await startRealHub(t, folder => {
			const {everything = {}} = realServers(folder);
			return {
				servers: {everything: {...everything, timeout: '3s'}},
				args: ['--log', join(folder, 'traffic.ndjson'), '--flush-millis', '10'],
			};
		});
		const {text, isError} = await hub.run('everything.trigger_long_running_operation(duration=60, steps=60)');
		t.true(isError);
		t.regex(text, /everything\.trigger.*timed out after 3(\.0)? ?s/);
		const traffic = (): Promise<string> => readFile(join(hub.folder, 'traffic.ndjson'), 'utf8');
		const cancelled = /"method":"notifications\/cancelled".*"to":"everything"/;
		await until(async () => cancelled.test(await traffic()));
		t.false((await hub.run('everything.echo(message="next")')).isError);
	},
);
