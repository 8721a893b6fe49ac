import test from 'ava';
import fc from 'fast-check';
import {bindArguments} from '../../lib/run/call-arguments.js';
import {parseBatch} from '../../lib/run/parse-batch.js';
import {compilePlainProgram} from '../../lib/run/plain-program.js';
import {pythonTypeName} from '../../lib/run/signature.js';
import {forInterpreter, pack, runnerOf, textOf} from './support.js';

const packNames = new Set(['wix']);

test('the planner never overflows the stack [SEC-D22]', async t => {
	const part = fc.tuple(
		fc.constantFrom('[', '{"a": ', 'wix.a(', 'wix.a(b=', '-', 'a.', 'not ', 'lambda: ', 'f"{', '('),
		fc.constantFrom('', ']', '}', ')', '[0]', '.a', '()', '[-1]'),
		fc.integer({min: 1, max: 20_000}),
	);
	await fc.assert(
		fc.asyncProperty(fc.array(part, {minLength: 1, maxLength: 3}), async parts => {
			const source = `a = 1\n${parts.map(([open, , times]) => open.repeat(times)).join('')}a${parts
				.map(([, close, times]) => close.repeat(times))
				.reverse()
				.join('')}`;
			await t.notThrowsAsync(compilePlainProgram(source, packNames));
		}),
		{numRuns: 30},
	);
});

test('a program with many characters or braces runs in the interpreter [SEC-D2]', async t => {
	const planned = async (source: string): Promise<boolean> =>
		(await compilePlainProgram(source, packNames)) !== undefined;
	t.true(await planned(`wix.a(b="${'b'.repeat(30_000)}")`));
	t.false(await planned(`wix.a(b="${'b'.repeat(33_000)}")`));
	t.true(await planned(`wix.a(b=[${'{},'.repeat(1000)}])`));
	t.false(await planned(`wix.a(b=[${'{},'.repeat(1001)}])`));
});

for (const [how, program] of [
	['without an interpreter', 'wix.name.batch([1, 2, 3, 4], return_errors=True)'],
	['in the interpreter', forInterpreter('wix.name.batch([1, 2, 3, 4], return_errors=True)')],
	[
		'in the interpreter, with named arguments',
		forInterpreter('wix.name.batch(return_errors=True, items=(1, 2, 3, 4))'),
	],
] as const)
	test(`rejects a batch over the call limit before the first call, ${how} [SEC-D2]`, async t => {
		let calls = 0;
		const runner = runnerOf([pack('wix', {name: () => ++calls})], {maxCalls: 3, runTimeoutMs: 600_000});
		const text =
			'Error at line 1: ToolError: batch() got 4 items, and a run may make 3 calls. Pass fewer items.';
		t.is(textOf(await runner.run(program)), text);
		t.is(calls, 0);
		await runner.close();
	});

test('counts the items of a batch before validating them [SEC-D2]', t => {
	const items = new Proxy(new Array(1_000_000), {
		get: (target, key) => (key === 'length' ? target.length : t.fail(String(key))),
	});
	t.throws(() => parseBatch({positional: [items], named: []}, 100), {message: /got 1000000 items/});
});

test('a program that catches the call limit ends after 100 more attempts [SEC-D2]', async t => {
	let calls = 0;
	const runner = runnerOf([pack('wix', {name: () => ++calls})], {maxCalls: 3, runTimeoutMs: 600_000});
	const result = await runner.run('while True:\n  try: wix.name()\n  except ToolError: pass');
	t.is(result.structuredContent.error?.type, 'CallLimit');
	t.is(calls, 3);
	await runner.close();
});

test('a program that runs out of memory while reading a reply gets a MemoryError [SEC-D2]', async t => {
	const runner = runnerOf([pack('wix', {text: () => 'x'.repeat(3_000_000)})], {
		runTimeoutMs: 600_000,
		maxCallBytes: 4_000_000,
	});
	const program =
		'x = []\ntry:\n  while True: x.append(bytes(1_000_000))\nexcept MemoryError: pass\nwix.text()';
	t.is((await runner.run(program)).structuredContent.error?.type, 'MemoryError');
	await runner.close();
});

for (const [kind, values] of [
	['values', `b'[],' * 1_000_000 + b'1'`],
	['nested lists', `b'[' * 1_000_000 + b']' * 1_000_000`],
])
	test(`rejects a forged outcome with many ${kind} without parsing it [SEC-D2]`, async t => {
		const runner = runnerOf([], {runTimeoutMs: 600_000});
		const written = `b'{"done":{"kind":"text","text":"x","more":[' + ${values} + b']}}\\n'`;
		const program = `import os\nos.write(2, ${written})\nwhile True: pass`;
		const {structuredContent} = await runner.run(program);
		t.is(
			structuredContent.error?.message,
			'The program wrote to file 2, which only the interpreter may use.',
		);
		await runner.close();
	});

for (const [how, program] of [
	['without an interpreter', 'wix.text.batch([{}, {}, {}, {}, {}, {}])'],
	['in the interpreter', forInterpreter('wix.text.batch([{}, {}, {}, {}, {}, {}])')],
] as const)
	test(`a batch fails when its results exceed the limit of one result, ${how} [SEC-D2]`, async t => {
		let calls = 0;
		const text = (): string => {
			calls++;
			return 'x'.repeat(400);
		};
		const limits = {maxCallBytes: 1000, maxParallelCalls: 1, runTimeoutMs: 600_000};
		const runner = runnerOf([pack('wix', {text})], limits);
		const message = 'item 2 of the batch: The results of this batch exceed 1000 bytes.';
		t.is(textOf(await runner.run(program)), `Error at line 1: ToolError: ${message} Make fewer calls in it.`);
		t.is(calls, 3);
		await runner.close();
	});

test('a plain program fails when its results exceed the memory limit [SEC-D2]', async t => {
	let calls = 0;
	const text = (): string => {
		calls++;
		return 'x'.repeat(990);
	};
	const runner = runnerOf([pack('wix', {text})], {maxCallBytes: 1000});
	const program = Array.from({length: 20}, (_, at) => `a${at} = wix.text()`).join('\n');
	const message = 'The results of this program exceed 8000 bytes. Make fewer calls in it.';
	t.is(textOf(await runner.run(program)), `Error at line 9: ToolError: ${message}`);
	t.is(calls, 9);
	await runner.close();
});

for (const [problem, text, expected] of [
	[
		'is nested too deeply',
		`${'['.repeat(100_000)}${']'.repeat(100_000)}`,
		/returned a value that is nested too deeply/,
	],
	['has too many values', `[${'0,'.repeat(510_000)}0]`, /returned more than 500000 values/],
	[
		'has too many members',
		`[${'{"":0},'.repeat(110_000)}0]`,
		/returned more than 40000 members of objects\. Request less data, or raise limits\.runCall\./,
	],
	['is too long', `["${'x'.repeat(5_000_000)}"]`, /returned 5000004 bytes; the limit is 1048576/],
] as const)
	test(`fails a call with a ToolError if its JSON ${problem} [SEC-D2]`, async t => {
		const runner = runnerOf([pack('wix', {text: () => text})]);
		t.regex(textOf(await runner.run('wix.text()')), expected);
		await runner.close();
	});

test('bounds the length of a type name for schemas of exponential size [SEC-D2]', t => {
	let wide: unknown = {type: 'string'};
	for (let depth = 0; depth < 20; depth++) {
		const properties = Object.fromEntries(Array.from({length: 10}, (_, at) => [`p${at}`, wide]));
		wide = {type: ['array', 'object', 'null', 'string', 'number'], items: wide, properties, anyOf: undefined};
	}
	t.true(pythonTypeName(wide).length < 20_000);
	let deep: unknown = {type: 'string'};
	for (let depth = 0; depth < 100_000; depth++)
		deep = depth % 2 ? {type: 'array', items: deep} : {anyOf: [deep]};
	t.true(pythonTypeName(deep).startsWith('list[list['));
});

test('rejects a call with more than 1000 named arguments [SEC-D2]', t => {
	const named = Array.from({length: 1001}, (_, at) => [`a${at}`, at] as const);
	t.is(
		Object.keys(bindArguments('wix.a', {name: 'a'}, {positional: [], named: named.slice(1)})).length,
		1000,
	);
	t.throws(() => bindArguments('wix.a', {name: 'a'}, {positional: [], named}), {
		message: /at most 1000 named arguments/,
	});
});

test('a run times out even while its interpreter starts [SEC-D2]', async t => {
	const runner = runnerOf([], {maxMemoryBytes: 64 * 1024 * 1024, runTimeoutMs: 600_000});
	const result = await runner.run('[1][:]', {timeoutMs: 1});
	t.is(
		textOf(result),
		'Error: RunTimeout: The run timed out after 0.0s. Do less in one run, or raise runTimeout in the configuration.',
	);
	t.is(textOf(await runner.run('[1][:]')), '[1]');
	await runner.close();
});
