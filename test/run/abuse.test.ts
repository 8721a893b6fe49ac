import test, {type ExecutionContext} from 'ava';
import type {RunResult} from '../../lib/run/types.js';
import {pack, runnerOf, textOf} from './support.js';

const packs = [pack('wix', {echo: args => args, name: () => 'wix'})];
const runner = runnerOf(packs, {runTimeoutMs: 600_000, maxConcurrent: 2, maxQueued: 1000});
test.after.always(() => runner.close());

/** Checks that the runner still works after the previous program. */
const nextRunWorks = async (t: ExecutionContext): Promise<void> => {
	t.is(textOf(await runner.run('sorted([3, 1, 2])')), '[1,2,3]');
};

const fails = async (t: ExecutionContext, program: string, type: string): Promise<RunResult> => {
	const result = await runner.run(program);
	t.true(result.isError);
	t.is(result.structuredContent.error?.type, type, textOf(result));
	await nextRunWorks(t);
	return result;
};

/**
 * Runs a program with an increasing timeout until it has printed something, since a busy machine may start it
 * late.
 */
const timedOut = async (program: string): Promise<RunResult> => {
	for (let timeoutMs = 1000; ; timeoutMs *= 2) {
		const result = await runner.run(program, {timeoutMs});
		if (result.structuredContent.stdout !== undefined) return result;
	}
};

for (const [label, program] of [
	['an infinite loop', 'while True: pass'],
	['a regular expression with catastrophic backtracking', 'import re\nre.match("(a+)+$", "a" * 60 + "b")'],
	['an endless calculation', '9 ** 9 ** 9'],
	['an endless sleep', 'import time\ntime.sleep(10 ** 6)'],
	[
		'a loop that catches everything',
		'while True:\n  try:\n    while True: pass\n  except BaseException: pass',
	],
] as const) {
	// Serial, since the time that parallel programs wait for each other counts, too.
	test.serial(`ends ${label} after the time limit [J1]`, async t => {
		const result = await timedOut(`wix.name()\nprint("before")\n${program}`);
		t.regex(
			textOf(result),
			/^before\nError: RunTimeout: The run timed out after \d+\.0s\. Do less in one run, or raise runTimeout in the configuration\.$/,
		);
		await nextRunWorks(t);
	});
}

for (const [label, program, type] of [
	['one giant allocation', 'x = "x" * (10 ** 9)', 'MemoryError'],
	['many allocations', 'x = []\nwhile True: x.append("x" * 1_000_000)', 'MemoryError'],
	['a growing list', 'x = [0]\nwhile True: x += x', 'MemoryError'],
	['recursion', 'def f(): return f()\nf()', 'RecursionError'],
	['recursion through C', 'class A:\n  def __repr__(self): return repr([self])\nrepr(A())', 'RecursionError'],
	['a text nested too deeply', 'eval("(" * 1000 + ")" * 1000)', 'MemoryError'],
	['a flood of output', 'while True: print("flood" * 100)', 'OutputLimit'],
	['one giant line', 'print("x" * 3_000_000)', 'OutputLimit'],
	['a giant result', '"x" * 3_000_000', 'OutputLimit'],
	['giant arguments', 'wix.echo(x="x" * 5_000_000)', 'OutputLimit'],
	['the text of a huge number', 'str(7 ** 100_000)', 'ValueError'],
	['an exit of the process', 'import os\nos._exit(7)', 'SystemExit'],
	['an abort', 'import os\nos.abort()', 'InterpreterError'],
	[
		'a crash of the interpreter',
		'import sys\nsys.setrecursionlimit(10 ** 9)\nx = []\nfor _ in range(10 ** 5): x = [x]\nimport gc\ndel x',
		'',
	],
	['threads', 'import threading\nthreading.Thread(target=print).start()', 'RuntimeError'],
] as const) {
	test(`contains ${label} [J1]`, async t => {
		if (type !== '') {
			await fails(t, program, type);
			return;
		}
		await runner.run(program);
		await nextRunWorks(t);
	});
}

test('runs other programs while one is in an infinite loop [J1]', async t => {
	const stop = new AbortController();
	let isSpinning = true;
	const spinning = runner.run('while True: pass', {signal: stop.signal}).finally(() => {
		isSpinning = false;
	});
	t.is(textOf(await runner.run('wix.name()')), 'wix');
	t.is(textOf(await runner.run('sum(range(10))')), '45');
	t.true(isSpinning);
	stop.abort();
	t.is((await spinning).structuredContent.error?.type, 'Cancelled');
});

test('isolates programs from the changes of earlier programs [J6]', async t => {
	const first = [
		'import builtins, json, sys, os, random',
		'secret = "left behind"',
		'builtins.secret = secret',
		'json.secret = secret',
		'json.dumps = lambda *a, **k: "patched"',
		'sys.modules["secret"] = json',
		'builtins.sum = lambda x: 42',
		'os.environ["SECRET"] = secret',
		'random.seed(1)',
		'print("done")',
	].join('\n');
	t.is(textOf(await runner.run(first)), 'done');
	const second = [
		'import builtins, json, sys, os',
		'[hasattr(builtins, "secret"), hasattr(json, "secret"), "secret" in sys.modules, sum([1]), dict(os.environ), "secret" in globals()]',
	].join('\n');
	t.is(textOf(await runner.run(second)), '[false,false,false,1,{},false]');
});

test('gives each program different random numbers [J6]', async t => {
	const program = 'import random, uuid, os\n[random.random(), str(uuid.uuid4()), os.urandom(8).hex()]';
	const [one, other] = await Promise.all([runner.run(program), runner.run(program)]);
	const values = [one, other].map(({structuredContent}) => structuredContent.result as unknown[]);
	for (const at of [0, 1, 2]) t.not(values[0]?.[at], values[1]?.[at]);
});

test('keeps error messages short and without paths of the host [J7]', async t => {
	const results = await Promise.all(
		[
			'raise ValueError("x" * 100_000)',
			'def f(n): return f(n + 1) if n < 200 else 1 / 0\nf(0)',
			'import traceback\ntry: 1 / 0\nexcept ZeroDivisionError: print(traceback.format_exc())\nraise KeyError("k")',
			'class E(Exception):\n  def __str__(self): raise ValueError\nraise E()',
			'wix.nothing()',
			'import os\nos.abort()',
		].map(program => runner.run(program)),
	);
	for (const result of results) {
		const text = textOf(result);
		t.true(result.isError);
		t.true(Buffer.byteLength(text) <= 2500, text.slice(0, 200));
		t.false(text.includes(process.cwd()), text);
		t.notRegex(text, /node_modules|file:|\.js\b/);
	}
});
