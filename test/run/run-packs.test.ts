import test from 'ava';
import {memoryLog, pack, runnerOf, textOf} from './support.js';

const echo = {echo: (args: unknown) => args};

const run = async (packs: Parameters<typeof runnerOf>[0], program: string): Promise<string> => {
	const runner = runnerOf(packs);
	const text = textOf(await runner.run(program));
	await runner.close();
	return text;
};

const local = (name: string, value: unknown) => ({
	...pack(name, {}),
	source: 'local' as const,
	tools: [{name: 'web_search'}],
	call: async () => value,
});

test('a local pack takes precedence over a proxied one of the same name [HUB-10]', async t => {
	const proxied = pack('brave', {web_search: () => 'proxied'});
	t.is(await run([proxied, local('brave', 'local')], 'brave.web_search(query="test")'), 'local');
	t.is(await run([local('brave', 'local'), proxied], 'brave.web_search(query="test")'), 'local');
});

test('a proxied pack is available next to a local one [HUB-11]', async t => {
	const wix = pack('wix', {list_sites: () => ['a']});
	t.is(await run([local('brave', 'local'), wix], 'wix.list_sites()'), '["a"]');
});

test('an unknown pack is an error that lists the packs [HUB-7]', async t => {
	const text = await run([pack('wix', echo), pack('notion', echo)], 'unknown.some_tool()');
	t.regex(text, /Unknown pack 'unknown'\. Available packs: notion, proxy, wix$/);
});

test('a misspelled pack name gets a suggestion', async t => {
	t.regex(await run([pack('notion', echo)], 'notoin.search()'), /Did you mean notion\?$/);
});

test('an unknown tool is an error that lists the tools [HUB-8]', async t => {
	const wix = pack('wix', {get_product: () => 1, list_sites: () => 2});
	const text = await run([wix], 'wix.nonexistent()');
	t.is(
		text,
		"Error at line 1: ToolNotFound: Tool 'nonexistent' not found in pack 'wix'. Available: get_product, list_sites",
	);
	t.regex(await run([wix], 'wix.list_site()'), /Did you mean list_sites\?$/);
});

test('an undefined variable gets the same error in the interpreter', async t => {
	const text = await run([pack('wix', echo)], 'x = 1\nprint(x + y)');
	t.is(
		text,
		"Error at line 2: NameError: name 'y' is not defined. Unknown pack 'y'. Available packs: proxy, wix",
	);
});

test('packs can have the names of built-in JavaScript properties [J3]', async t => {
	const packs = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'].map(name => pack(name, echo));
	for (const {name} of packs) {
		t.is(await run(packs, `${name}.echo(a=1)`), '{"a":1}', name);
		t.is(await run(packs, `[${name}.echo(a=n) for n in (1, 2)]`), '[{"a":1},{"a":2}]', name);
	}
	t.regex(await run([pack('wix', echo)], 'constructor.echo()'), /Unknown pack 'constructor'/);
	t.regex(await run([pack('wix', echo)], 'wix.constructor()'), /Tool 'constructor' not found/);
	t.regex(
		await run([pack('wix', echo)], '[wix.constructor() for _ in (1,)]'),
		/Tool 'constructor' not found/,
	);
});

test('no other pack replaces proxy [J3]', async t => {
	const packs = [pack('proxy', echo), local('proxy', 'mine')];
	t.regex(await run(packs, 'proxy.echo()'), /Tool 'echo' not found in pack 'proxy'/);
	t.is(await run([pack('proxy', echo)], 'proxy_.echo(a=1)'), '{"a":1}');
});

test('a pack shadows a Python module of the same name, but not __builtins__ [J3]', async t => {
	t.is(await run([pack('json', echo)], '[json.echo(a=n) for n in (1,)]'), '[{"a":1}]');
	t.is(await run([pack('__builtins__', echo)], 'len([__builtins___.echo(a=n) for n in (1,)])'), '1');
});

test('pack names are converted to Python identifiers [J3]', async t => {
	t.is(await run([pack('my-server', echo)], 'my_server.echo(a=1)'), '{"a":1}');
	t.is(await run([pack('7zip', echo)], '_7zip.echo(a=1)'), '{"a":1}');
	t.is(await run([pack('import', echo)], 'import_.echo(a=1)'), '{"a":1}');
	const both = [pack('my-server', {one: () => 1}), pack('my_server', {two: () => 2})];
	t.is(await run(both, '[my_server.one(), my_server_2.two()]'), '["1","2"]');
});

test('tools whose names are not Python identifiers can be called [J3]', async t => {
	const odd = pack('odd', {
		'get-product': () => 'dash',
		'a.b/c d': () => 'path',
		import: () => 'keyword',
		listSites: () => 'camel',
	});
	t.is(
		await run([odd], '[odd.get_product(), odd.a.b.c_d(), odd.import_(), odd.list_sites()]'),
		'["dash","path","keyword","camel"]',
	);
});

test('tools are listed with their Python names [J3]', async t => {
	const odd = pack('odd', {'get-product': () => 1, 'a.b/c d': () => 2, import: () => 3, listSites: () => 4});
	t.regex(await run([odd], 'odd.nothing()'), /Available: a_b_c_d, get_product, import_, listSites$/);
	const signatures = '[t.signature for t in proxy.list_tools(server="odd")]';
	t.is(
		await run([odd], signatures),
		'["odd.get_product()","odd.a_b_c_d()","odd.import_()","odd.listSites()"]',
	);
	t.is(await run([odd], '[t.name for t in proxy.search("product")]'), '["odd.get_product"]');
	for (const name of ['odd.get_product', 'odd.a_b_c_d', 'odd.import_'])
		t.notRegex(await run([odd], `${name}()`), /Error/, name);
});

test('a tool whose Python name is taken is listed with getattr [J3]', async t => {
	const two = pack('two', {'get-it': () => 'dash', get_it: () => 'line'});
	t.is(
		await run([two], '[t.signature for t in proxy.list_tools(server="two")]'),
		'["getattr(two, \\"get-it\\")()","two.get_it()"]',
	);
	t.is(await run([two], '[getattr(two, "get-it")(), two.get_it()]'), '["dash","line"]');
});

test('the error for a tool with a hyphen contains its Python name [J3]', async t => {
	const odd = pack('odd', {'get-sum': () => 1, 'get-all-of-it': () => 2});
	const hint = (tool: string, name: string): RegExp =>
		new RegExp(`Python parses odd\\.${tool} as a subtraction; write odd\\.${name}\\(…\\)\\.$`);
	t.regex(await run([odd], 'odd.get-sum(a=1)'), hint('get-sum', 'get_sum'));
	t.regex(await run([odd], 'odd.get-all-of-it(a=1)'), hint('get-all-of-it', 'get_all_of_it'));
	t.notRegex(await run([odd], 'odd.get_sum() / 0'), /subtraction/);
});

test('an ambiguous tool name is an error [J3]', async t => {
	const two = pack('two', {'get-it': () => 1, getIt: () => 2});
	t.regex(
		await run([two], 'two.get_it()'),
		/Tool 'get_it' of pack 'two' is ambiguous\. Candidates: get-it, getIt$/,
	);
});

test('lists in errors are truncated after 50 names [J3]', async t => {
	const tools = Object.fromEntries(Array.from({length: 200}, (_, at) => [`tool${at + 100}`, () => at]));
	const text = await run([pack('many', tools)], 'many.nothing_like_it()');
	t.regex(text, /tool100, tool101, .*tool149 \(and 150 more\)$/);
});

test('a call to an unavailable pack fails with the reason', async t => {
	const away = pack('wix', {}, {unavailableReason: 'exited with code 1'});
	t.is(
		await run([away], 'wix.list_sites()'),
		"Error at line 1: ToolError: Server 'wix' unavailable: exited with code 1",
	);
});

test('each run gets the current packs', async t => {
	let packs = [pack('one', echo)];
	const runner = runnerOf([], {packs: () => packs});
	t.is(textOf(await runner.run('one.echo(a=1)')), '{"a":1}');
	packs = [pack('other', echo)];
	t.regex(textOf(await runner.run('one.echo(a=1)')), /Available packs: other, proxy/);
	await runner.close();
});

test('logs one warning for a local pack with the name of a server [A-D10]', async t => {
	const log = memoryLog();
	const runner = runnerOf([pack('a', echo), local('a', 1)], {log});
	await runner.run('a.web_search()');
	await runner.run('a.web_search()');
	t.deepEqual(log.entries, [
		'warn run.pack.collision: The local pack a has the same name as a server. If both have a tool, run calls the local one. Rename one of them to reach both.',
	]);
	await runner.close();
});

test('logs a warning for a server or a local pack named proxy [A-D10]', async t => {
	const log = memoryLog();
	const runner = runnerOf([pack('proxy', echo), local('proxy', 'mine')], {log});
	t.is(textOf(await runner.run('[proxy_.web_search(), proxy_.echo(a=1).a]')), '["mine",1]');
	const start = 'The name proxy is reserved for a built-in pack, so';
	t.deepEqual(
		log.entries.filter(entry => entry.includes('run.pack.reserved')),
		['local pack', 'server'].map(
			kind =>
				`warn run.pack.reserved: ${start} the ${kind} proxy is called proxy_ in run. Rename the ${kind} to choose another name.`,
		),
	);
	await runner.close();
});

test('a local pack falls back to the tools of the server of the same name [A-D10]', async t => {
	const server = pack('brave', {
		web_search: () => 'proxied',
		'only-remote': () => 'remote',
		webSearch: () => 'folded',
	});
	const packs = [server, local('brave', 'local')];
	t.is(
		await run(packs, '[brave.web_search(), brave.only_remote(), brave.webSearch()]'),
		'["local","remote","local"]',
	);
	t.is(await run(packs, '[f() for f in (brave.web_search, brave.only_remote)]'), '["local","remote"]');
	t.is(
		await run(packs, '[tool.signature for tool in proxy.list_tools(server="brave")]'),
		'["brave.web_search()","brave.only_remote()"]',
	);
	t.is(await run(packs, 'proxy.help("brave.only_remote")'), 'brave.only_remote()');
	t.regex(await run(packs, 'brave.none()'), /Available: only_remote, web_search$/);
	t.is(await run(packs, 'proxy.list_servers()[0].pack'), 'brave');
});

test('tools of a local pack work while the server of the same name is unavailable [A-D10]', async t => {
	const packs = [pack('brave', {}, {unavailableReason: 'exited with code 1'}), local('brave', 'local')];
	t.is(await run(packs, 'brave.web_search()'), 'local');
	t.regex(await run(packs, 'brave.other()'), /ToolError: Server 'brave' unavailable: exited with code 1$/);
});

test('a call waits for the server behind a local pack, unless the pack has the tool [A-G1] [A-D10]', async t => {
	let waits = 0;
	const server = pack('brave', {other: () => 'remote'});
	const connecting = async () => {
		waits++;
		return server;
	};
	const packs = [
		pack('brave', {}, {unavailableReason: 'it is still connecting', whenConnected: connecting}),
		local('brave', 'local'),
	];
	t.is(await run(packs, 'brave.web_search()'), 'local');
	t.is(waits, 0);
	t.is(await run(packs, '[brave.other(), brave.other()]'), '["remote","remote"]');
	t.is(waits, 1);
});

test('two local packs with the same Python name get different names [A-D10]', async t => {
	const packs = [local('my-pack', 'one'), local('my_pack', 'two')];
	t.is(await run(packs, '[my_pack.web_search(), my_pack_2.web_search()]'), '["one","two"]');
});
