import {mkdir, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {newFolder, until} from '../../helpers/program.js';
import {type HubOptions, logged, type RunningHub, shop, startHub, textIn} from './support.js';

/** Starts a hub with these modules as local packs and one upstream. */
async function startWithPacks(
	t: ExecutionContext,
	modules: {readonly [name: string]: string},
	settings: {readonly [key: string]: unknown} = {},
	options: HubOptions = {},
) {
	const packs = join(await newFolder(t), 'packs');
	await mkdir(packs);
	for (const [name, source] of Object.entries(modules)) await writeFile(join(packs, name), source);
	const hub = await startHub(t, {servers: {wix: shop('wix')}, packs, ...settings}, options);
	return {hub, packs};
}

const valueIn =
	(hub: RunningHub) =>
	async (command: string): Promise<string> =>
		textIn(await hub.call('run', {command}));

test('writes stdout output of a local pack to stderr', async t => {
	const {hub} = await startWithPacks(t, {
		'loud.mjs': [
			'console.log("loud: loading");',
			'export const print = text => { console.log("loud:", text); process.stdout.write("loud: raw\\n"); return text; };',
		].join('\n'),
	});
	t.is(await valueIn(hub)('loud.print(text="hello")'), 'hello');
	for (const line of ['loud: loading', 'loud: hello', 'loud: raw'])
		await hub.running.says(new RegExp(`^${line}$`, 'm'));
	for (const line of hub.running.lines) t.notThrows(() => JSON.parse(line), line);
});

test('logs a late failure of a local pack and keeps running', async t => {
	const {hub} = await startWithPacks(t, {
		'late.mjs': [
			'export const fail = () => { setImmediate(() => { throw new Error("too late"); }); return 1; };',
			'export const reject = () => { Promise.reject(new Error("unhandled")); return 2; };',
		].join('\n'),
	});
	const value = valueIn(hub);
	t.is(await value('late.fail()'), '1');
	t.is(await value('late.reject()'), '2');
	await until(() => logged(hub.running, 'run.pack.uncaught').length === 2);
	t.deepEqual(
		logged(hub.running, 'run.pack.uncaught').map(({level, msg}) => [level, msg]),
		[
			[50, 'A local pack failed in the background: too late'],
			[50, 'A local pack failed in the background: unhandled'],
		],
	);
	t.is(await value('wix.search(query="x")'), '{"hits":["wix: x"]}');
});

test('reloads local packs when their files change and notifies the client', async t => {
	const {hub, packs} = await startWithPacks(t, {'mine.mjs': 'export const one = () => 1;'});
	const value = valueIn(hub);
	await hub.toolNames();
	t.is(await value('mine.one()'), '1');
	await writeFile(join(packs, 'mine.mjs'), 'export const two = () => 22;');
	await writeFile(join(packs, 'more.cjs'), 'exports.three = () => 3;');
	await hub.running.message(({method}) => method === 'notifications/tools/list_changed');
	t.is(await value('[mine.two(), more.three()]'), '[22,3]');
	await rm(join(packs, 'more.cjs'));
	await until(async () => /Unknown pack 'more'/.test(await value('more.three()')));
});

test('leaves out a local pack while it has a syntax error and reloads it once it is fixed', async t => {
	const {hub, packs} = await startWithPacks(t, {'mine.mjs': 'export const one = () => 1;'});
	const value = valueIn(hub);
	t.is(await value('mine.one()'), '1');
	await writeFile(join(packs, 'mine.mjs'), 'export const one = () => ');
	await until(() => logged(hub.running, 'run.pack.broken').length > 0);
	await until(async () => /Unknown pack 'mine'/.test(await value('mine.one()')));
	await writeFile(join(packs, 'mine.mjs'), 'export const one = () => "mended";');
	await until(async () => (await value('mine.one()')) === 'mended');
	t.pass();
});

test('waits for a local pack that never finishes loading only until startupTimeout', async t => {
	const {hub} = await startWithPacks(
		t,
		{'endless.mjs': 'await new Promise(() => {});', 'fine.mjs': 'export const one = () => 1;'},
		{startupTimeout: '3s'},
	);
	t.deepEqual(await hub.toolNames(), ['run']);
	t.is(await valueIn(hub)('fine.one()'), '1');
	t.regex(
		String(logged(hub.running, 'run.pack.broken')[0]?.msg),
		/endless was skipped: it did not load within 3 s/,
	);
});

test('lists packs and tools in the description as a program must write them', async t => {
	const servers = {proxy: shop('p'), 'my-x': shop('a'), my_x: shop('b'), mine: shop('c')};
	const {hub} = await startWithPacks(t, {'mine.mjs': 'export const own = () => 1;'}, {servers});
	const {result} = await hub.ask('tools/list');
	const [tool] = (result as {readonly tools: ReadonlyArray<{readonly description: string}>}).tools;
	const names = [...(tool?.description ?? '').matchAll(/^(\w+): /gm)].map(([, name]) => name);
	t.deepEqual(names.slice(-4), ['mine', 'proxy_', 'my_x', 'my_x_2']);
	t.regex(tool?.description ?? '', /^mine: own, list_sites, /m);
	const value = valueIn(hub);
	t.is(await value('my_x_2.search(query="x")'), '{"hits":["b: x"]}');
	t.is(await value('proxy_.search(query="x")'), '{"hits":["p: x"]}');
});
