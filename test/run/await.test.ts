import test from 'ava';
import {compilePlainProgram} from '../../lib/run/plain-program.js';
import {forInterpreter, pack, runnerOf, textOf} from './support.js';

const packs = [
	pack('wix', {
		echo: args => args,
		list: args => [args],
		data: () => ({name: 'a', nested: [{tags: ['x']}], id64: 1}),
		fail: () => {
			throw new Error('it failed');
		},
	}),
	pack('nil', {}, {tools: [{name: 'none'}], call: async () => ({content: []})}),
	pack('away', {}, {unavailableReason: 'exited with code 1'}),
];
const runner = runnerOf(packs, {runTimeoutMs: 600_000, maxConcurrent: 2, maxQueued: 1000});
test.after.always(() => runner.close());

const lines = (...program: string[]): string => program.join('\n');

for (const [label, program, expected] of [
	['a call at the top level', 'for n in (1, 2):\n  r = await wix.echo(n=n)\nr', '{"n":2}'],
	[
		'a result of any type',
		'[await nil.none(), await wix.list(a=1), await wix.echo.batch([{"a": 1}])]',
		'[null,[{"a":1}],[{"a":1}]]',
	],
	['a result in a variable', 'r = wix.echo(a=1)\n[await r for _ in (1,)]', '[{"a":1}]'],
	['a call before a top-level return', 'r = await wix.echo(a=1)\nif r: return r.a', '1'],
	[
		'calls in an async function',
		lines(
			'import asyncio',
			'async def get(n):',
			'  r = await wix.echo(n=n)',
			'  return r.n',
			'async def main():',
			'  return [await get(1), await get(2)]',
			'asyncio.run(main())',
		),
		'[1,2]',
	],
	[
		'an async function at the top level',
		'async def main():\n  return await wix.echo(a=1)\nawait main()',
		'{"a":1}',
	],
	[
		'the coroutine in its last expression',
		'async def main():\n  return await wix.echo(a=1)\nmain()',
		'{"a":1}',
	],
	[
		'gather of calls',
		'import asyncio\nawait asyncio.gather(wix.echo(a=1), wix.list(b=2))',
		'[{"a":1},[{"b":2}]]',
	],
	[
		'gather of async functions',
		lines(
			'import asyncio',
			'async def get(n):',
			'  async with limit:',
			'    await asyncio.sleep(0.001)',
			'    return (await wix.echo(n=n)).n',
			'limit = asyncio.Semaphore(2)',
			'await asyncio.gather(*[get(n) for n in range(4)])',
		),
		'[0,1,2,3]',
	],
	['gather in its last expression', 'import asyncio\nasyncio.gather(wix.echo(a=1))', '[{"a":1}]'],
	[
		'tasks',
		lines(
			'import asyncio',
			'tasks = [asyncio.create_task(wix.echo(a=1)), asyncio.ensure_future(nil.none())]',
			'async with asyncio.TaskGroup() as group:',
			'  tasks.append(group.create_task(wix.list(b=2)))',
			'[await task for task in tasks]',
		),
		'[{"a":1},null,[{"b":2}]]',
	],
	[
		'wait_for, shield, as_completed and to_thread',
		lines(
			'import asyncio',
			'a = await asyncio.wait_for(wix.echo(a=1), timeout=5)',
			'b = await asyncio.shield(nil.none())',
			'c = [await one for one in asyncio.as_completed([wix.list(c=1)])]',
			'd = await asyncio.to_thread(wix.echo, d=1)',
			'done, pending = await asyncio.wait([wix.echo(e=1)])',
			'[a, b, c, d, [one.result() for one in done]]',
		),
		'[{"a":1},null,[[{"c":1}]],{"d":1},[{"e":1}]]',
	],
	[
		'asyncio.run within a program that awaits',
		lines(
			'import asyncio',
			'async def main(): return await wix.echo(a=1)',
			'first = await main()',
			'[first, asyncio.run(main()), asyncio.get_event_loop().run_until_complete(main())]',
		),
		'[{"a":1},{"a":1},{"a":1}]',
	],
	['asyncio.run of a call', 'import asyncio\nasyncio.run(wix.echo(a=1))', '{"a":1}'],
	[
		'a call in a new event loop',
		'import asyncio\nasyncio.new_event_loop().run_until_complete(wix.echo(a=1))',
		'{"a":1}',
	],
	[
		'a timeout',
		lines(
			'import asyncio',
			'try:',
			'  await asyncio.wait_for(asyncio.sleep(3600), 0.001)',
			'except TimeoutError:',
			'  r = "timed out"',
			'r',
		),
		'timed out',
	],
	[
		'an error that the program catches',
		'try:\n  await wix.fail()\nexcept ToolError as e:\n  r = str(e)\nr',
		'it failed',
	],
] as const)
	test(`awaits ${label} [A-G9]`, async t => {
		t.is(textOf(await runner.run(program)), expected);
	});

for (const [label, program, expected] of [
	[
		'a tool without calling it',
		'[await wix.echo]',
		"Error at line 1: TypeError: object Tool can't be used in 'await' expression",
	],
	[
		'an event that never occurs',
		'import asyncio\nawait asyncio.Event().wait()',
		'Error: RuntimeError: The program waits for an event that can never occur.',
	],
	['a call that fails', 'x = [1]\nfor n in x:\n  await wix.fail()', 'Error at line 3: ToolError: it failed'],
	[
		'an async function that fails',
		'async def f():\n  await wix.fail()\nawait f()',
		'Error at line 2: ToolError: it failed',
	],
	[
		'outside an async function',
		'def f():\n  await wix.echo()',
		"Error at line 2: SyntaxError: 'await' outside async function",
	],
	[
		'calls in gather that fail',
		'import asyncio\nawait asyncio.gather(wix.fail(), wix.echo())',
		'Error at line 2: ToolError: it failed',
	],
] as const)
	test(`awaiting ${label} is an error of one line [A-G9]`, async t => {
		t.is(textOf(await runner.run(program)), expected);
	});

test('a failed task that is never awaited prints one line [A-G9]', async t => {
	const program = lines(
		'import asyncio, gc',
		'async def fail(): await wix.fail()',
		'asyncio.create_task(fail())',
		'await asyncio.sleep(0)',
		'await asyncio.sleep(0)',
		'gc.collect()',
		'"end"',
	);
	t.is(textOf(await runner.run(program)), 'Task exception was never retrieved ToolError: it failed\nend');
});

test('a program that ends with an awaited assignment returns the results of its calls [A-G9]', async t => {
	const {structuredContent} = await runner.run(
		'import json\na = await wix.echo(a=1)\nb = await wix.list(b=2)',
	);
	t.deepEqual(structuredContent.result, {a: {a: 1}, b: [{b: 2}]});
});

const names = new Set(['wix', 'nil', 'away', 'proxy']);

for (const program of [
	'await wix.data()',
	'x = await wix.data()\nx.name',
	'x = wix.data(); y = await x',
	'x = await wix.data(); y = await wix.list()',
	'(await wix.data()).nested[0]',
	'await wix.data().name',
	'wix.echo(a=await wix.data(), b=[await nil.none()])',
	'await wix.data().nope',
	'await wix.fail()',
	'await\\\n wix.data().nope',
	'await away.anything()',
	'await wix.echo.batch([{"a": 1}])',
	'await [1, 2]',
	'await nothing.here()',
]) {
	test(`returns the same with and without the interpreter: ${JSON.stringify(program)} [A-G9]`, async t => {
		t.truthy(await compilePlainProgram(program, names));
		t.deepEqual(await runner.run(forInterpreter(program)), await runner.run(program));
	});
}

for (const program of ['await -1', 'await await wix.data()', 'await wix.echo'])
	test(`runs in the interpreter: ${program} [A-G9]`, async t => {
		t.is(await compilePlainProgram(program, names), undefined);
	});
