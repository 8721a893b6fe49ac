import {utimesSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import test, {type ExecutionContext} from 'ava';
import {loadLocalPacks} from '../../lib/run/local-packs.js';
import {tempFolder} from '../helpers/temp-folder.js';
import {memoryLog, runnerOf, textOf} from './support.js';

const folder = fileURLToPath(new URL('../../../fixtures/run/packs', import.meta.url));

const run = async (program: string): Promise<string> => {
	const runner = runnerOf(await loadLocalPacks(folder, memoryLog()));
	const text = textOf(await runner.run(program));
	await runner.close();
	return text;
};

test('loads each file as a pack and each exported function as a tool', async t => {
	const packs = await loadLocalPacks(folder, memoryLog());
	t.deepEqual(
		packs.map(({name, description, source}) => ({name, description, source})),
		[{name: 'notes', description: 'notes on this machine', source: 'local'}],
	);
	const names = packs[0]?.tools.map(({name}) => name) ?? [];
	t.deepEqual(names.toSorted(), ['add', 'bare', 'fail', 'find', 'forever', 'nothing', 'parts', 'schema']);
});

test('skips a module that cannot be loaded, with a warning', async t => {
	const log = memoryLog();
	await loadLocalPacks(folder, log);
	t.is(log.entries.length, 1);
	t.regex(log.entries[0] ?? '', /^warn run\.pack\.broken: The local pack broken cannot be loaded: /);
});

test('warns of a missing folder', async t => {
	const log = memoryLog();
	t.deepEqual(await loadLocalPacks(join(folder, 'none'), log), []);
	t.regex(log.entries[0] ?? '', /^warn run\.packs\.unreadable/);
});

for (const [program, expected] of [
	['notes.find("milk", tags=["a"])', '{"query":"milk","limit":10,"tags":["a"]}'],
	['notes.find(query="milk", lim=3)', '{"query":"milk","limit":3,"tags":null}'],
	['notes.add(title="x")', '{"title":"x","pinned":false}'],
	['notes.add("x", True)', '{"title":"x","pinned":true}'],
	['notes.bare(1)', '[1,2]'],
	['notes.bare(two=5, one=1)', '[1,5]'],
	['notes.parts(right="r", left="l")', 'l-r'],
	['notes.schema(count=2)', '{"count":2,"hasSignal":true,"when":"1970-01-01T00:00:00.000Z"}'],
	['notes.nothing()', 'null'],
	['notes.fail()', 'Error at line 1: ToolError: cannot read ./secret.txt'],
	[
		'notes.ignored()',
		"Error at line 1: ToolNotFound: Tool 'ignored' not found in pack 'notes'. Available: add, bare, fail, find, forever, nothing, parts, schema",
	],
	[
		'proxy.help("notes.find")',
		'notes.find(query: str, limit: float = 10, tags: list[str] = ...)\nLooks for notes. The newest come first.\n  query: str – what to look for\n  limit: float, optional – how many at most\n  tags: list[str], optional – only notes with all of these',
	],
	[
		'proxy.help("notes.add")',
		'notes.add(title: str, pinned: any = false)\nAdds a note.\n  title: str – its title\n  pinned: bool, optional',
	],
	['proxy.help("notes.bare")', 'notes.bare(one: any, two: any = ...)\n  one: any\n  two: any, optional'],
] as const) {
	test(`calls a local pack: ${program}`, async t => {
		t.is(await run(program), expected.replace('pinned: any = false', 'pinned: bool = False'));
	});
}

/** Creates a folder with one file. */
function folderOf(t: ExecutionContext, name: string, source: string): string {
	const own = tempFolder(t);
	writeFileSync(join(own, name), source);
	return own;
}

for (const [name, source] of [
	['mine.mjs', 'export const get = () => 1;'],
	['mine.cjs', 'module.exports = {get: () => 1};'],
] as const)
	test(`reloads a changed module: ${name}`, async t => {
		const own = folderOf(t, name, source);
		const value = async (): Promise<unknown> => {
			const [pack] = await loadLocalPacks(own, memoryLog());
			return pack?.call('get', {}, new AbortController().signal);
		};
		t.is(await value(), 1);
		writeFileSync(join(own, name), source.replace('1', '2'));
		utimesSync(join(own, name), 1, 2);
		t.is(await value(), 2);
	});

test('exports functions of an object as tools, but not classes', async t => {
	const source = 'class Shop {}\nmodule.exports = {hi: name => "hi " + name, Shop, five: 5};';
	const packs = await loadLocalPacks(folderOf(t, 'old.cjs', source), memoryLog());
	t.deepEqual(
		packs.flatMap(({tools}) => tools.map(({name}) => name)),
		['hi'],
	);
	const runner = runnerOf(packs);
	t.is(textOf(await runner.run('old.hi("you")')), 'hi you');
	await runner.close();
});

test('parses the parameters of a single-line comment', async t => {
	const source =
		'/** Repeats it. @param {string} message - what @param {number} [times=1] */\nexport const repeat = (...all) => all[0];';
	const packs = await loadLocalPacks(folderOf(t, 'p.mjs', source), memoryLog());
	const runner = runnerOf(packs);
	t.is(textOf(await runner.run('p.repeat(message="x")')), 'x');
	t.regex(
		textOf(await runner.run('proxy.help("p.repeat")')),
		/^p\.repeat\(message: str, times: float = 1\)\nRepeats it\.\n/,
	);
	await runner.close();
});

test('skips a module that does not finish loading, with a warning', async t => {
	const log = memoryLog();
	t.deepEqual(await loadLocalPacks(folderOf(t, 'slow.mjs', 'await new Promise(() => {});'), log, 50), []);
	t.deepEqual(log.entries, [
		'warn run.pack.broken: The local pack slow was skipped: it did not load within 0.05 s.',
	]);
});

for (const [label, source, reason] of [
	[
		'a circular structure',
		'export const get = () => { const a = {}; a.a = a; return a; };',
		'Converting circular structure to JSON',
	],
] as const)
	test(`a local tool that returns ${label} fails with an error that programs can catch`, async t => {
		const runner = runnerOf(await loadLocalPacks(folderOf(t, 'p.mjs', source), memoryLog()));
		t.is(
			textOf(await runner.run('p.get()')),
			`Error at line 1: ToolError: p.get returned a value that is not JSON: ${reason}`,
		);
		t.is(textOf(await runner.run('try: p.get()\nexcept ToolError: print("caught")')), 'caught');
		await runner.close();
	});
