import {once} from 'node:events';
import test from 'ava';
import type {Pack} from '../../lib/run/types.js';
import {forInterpreter, pack, runnerOf, textOf} from './support.js';

// Boots Python once for all tests.
const warm = runnerOf([]);
test.before(() => warm.warmUp());
test.after.always(() => warm.close());

/** A pack with a tool that returns when the test resolves it. `waiting` has the pending calls. */
function gated(rest: Partial<Pack> = {}) {
	const waiting: Array<(value: unknown) => void> = [];
	const arrivals = new EventTarget();
	let [active, peak, cancelled] = [0, 0, 0];
	const wait = async (_args: unknown, signal: AbortSignal): Promise<unknown> => {
		peak = Math.max(peak, ++active);
		try {
			return await new Promise((resolve, reject) => {
				signal.addEventListener('abort', () => {
					cancelled++;
					arrivals.dispatchEvent(new Event('cancelled'));
					reject(new Error('cancelled'));
				});
				waiting.push(resolve);
				arrivals.dispatchEvent(new Event('arrival'));
			});
		} finally {
			active--;
		}
	};
	return {
		pack: pack('slow', {wait, quick: args => args}, rest),
		waiting,
		get peak() {
			return peak;
		},
		get cancelled() {
			return cancelled;
		},
		async arrived(count = 1): Promise<void> {
			while (waiting.length < count) await once(arrivals as never, 'arrival');
		},
	};
}

test('runs 20 programs within the concurrency limit and returns each result to its caller', async t => {
	const slow = gated();
	const runner = runnerOf([slow.pack], {maxConcurrent: 3, runTimeoutMs: 60_000});
	const runs = Array.from({length: 20}, (_, at) =>
		runner.run(`x = ${at}\nslow.wait()\n[x * n for n in slow.quick(a=[1, 2]).a]`),
	);
	for (let done = 0; done < 20; done++) {
		await slow.arrived();
		slow.waiting.shift()?.(null);
	}
	const results = await Promise.all(runs);
	t.deepEqual(
		results.map(textOf),
		results.map((_, at) => JSON.stringify([at, 2 * at])),
	);
	t.true(slow.peak <= 3);
	await runner.close();
});

test('rejects a program while the queue is full, and accepts the next one later', async t => {
	const slow = gated();
	const runner = runnerOf([slow.pack], {maxConcurrent: 1, maxQueued: 1});
	const [first, second] = [runner.run('[slow.wait()][:]\n1'), runner.run('[slow.quick()][:]\n2')];
	await slow.arrived();
	const third = await runner.run('[slow.quick()][:]\n3');
	t.is(textOf(third), 'Error: Busy: Too many programs: 1 running, 1 queued. Try again later.');
	slow.waiting.shift()?.(null);
	t.is(textOf(await first), '1');
	t.is(textOf(await second), '2');
	t.is(textOf(await runner.run('[slow.quick()][:]\n4')), '4');
	await runner.close();
});

for (const [how, program] of [
	['without an interpreter', 'slow.wait()'],
	['in the interpreter', forInterpreter('slow.wait()')],
] as const) {
	test(`cancels a call that times out, ${how} [J5]`, async t => {
		const slow = gated({timeoutMs: 50});
		const runner = runnerOf([slow.pack]);
		const {content, structuredContent} = await runner.run(program);
		t.like(content[0], {text: 'Error at line 1: ToolTimeout: Tool slow.wait timed out after 0.1s'});
		t.is(structuredContent.error?.type, 'ToolTimeout');
		t.is(slow.cancelled, 1);
		slow.waiting[0]?.('late');
		t.is(textOf(await runner.run('slow.quick(a=1)')), '{"a":1}');
		await runner.close();
	});

	test(`cancels the pending call of a run that times out, ${how} [J5]`, async t => {
		const slow = gated();
		const runner = runnerOf([slow.pack]);
		await runner.warmUp();
		let text = '';
		// A busy machine may need longer to reach the call.
		for (let timeoutMs = 1000; slow.waiting.length === 0; timeoutMs *= 2)
			text = textOf(await runner.run(program, {timeoutMs}));
		t.regex(
			text,
			/^Error: RunTimeout: The run timed out after \d+\.0s while it waited for slow\.wait\. Do less in one run, or raise runTimeout in the configuration\.$/,
		);
		t.is(slow.cancelled, 1);
		t.is(textOf(await runner.run(forInterpreter('slow.quick(a=1)'))), '{"a":1}');
		await runner.close();
	});

	test(`cancels the pending call of a run that its client cancels, ${how}`, async t => {
		const slow = gated();
		const runner = runnerOf([slow.pack]);
		const stop = new AbortController();
		const run = runner.run(program, {signal: stop.signal});
		await slow.arrived();
		stop.abort();
		t.is(textOf(await run), 'Error: Cancelled: The run was cancelled.');
		t.is(slow.cancelled, 1);
		await runner.close();
	});

	test(`close ends active runs, ${how}`, async t => {
		const slow = gated();
		const runner = runnerOf([slow.pack]);
		const run = runner.run(program);
		await slow.arrived();
		await runner.close();
		t.is(textOf(await run), 'Error: Closed: bridge is shutting down.');
		t.is(slow.cancelled, 1);
		t.is(textOf(await runner.run(program)), 'Error: Closed: bridge is shutting down.');
	});
}

test('a program can catch the timeout of a tool', async t => {
	const slow = gated({timeoutMs: 50});
	const runner = runnerOf([slow.pack]);
	const program = 'try:\n  slow.wait()\nexcept ToolTimeout as error:\n  print("caught", error)';
	t.is(textOf(await runner.run(program)), 'caught Tool slow.wait timed out after 0.1s');
	await runner.close();
});

test('a program can make at most 100 calls [J4]', async t => {
	let calls = 0;
	const counting = pack('c', {tool: () => ++calls});
	const runner = runnerOf([counting], {runTimeoutMs: 60_000});
	const result = await runner.run('while True: c.tool()');
	t.is(
		textOf(result),
		'Error at line 1: ToolError: The run has reached its limit of 100 calls. Make fewer calls, or split the program.',
	);
	t.is(calls, 100);
	await runner.close();
});

test('a program that catches the call limit makes no more calls [J4]', async t => {
	let calls = 0;
	const runner = runnerOf([pack('c', {tool: () => ++calls})], {maxCalls: 5});
	const program = 'n = 0\nfor _ in range(20):\n  try: c.tool()\n  except ToolError: n += 1\nn';
	t.is(textOf(await runner.run(program)), '15');
	t.is(calls, 5);
	await runner.close();
});

test('a program has at most 8 pending calls [J4]', async t => {
	const slow = gated();
	const runner = runnerOf([slow.pack], {runTimeoutMs: 60_000});
	const run = runner.run(`slow.wait.batch([${'{}, '.repeat(20)}])`);
	await slow.arrived(8);
	t.is(slow.waiting.length, 8);
	for (let done = 0; done < 20; done++) {
		await slow.arrived();
		slow.waiting.shift()?.(done);
	}
	t.false((await run).isError, textOf(await run));
	t.is(slow.peak, 8);
	await runner.close();
});

test('a result over the size limit is an error that the program can catch', async t => {
	const runner = runnerOf([pack('big', {tool: () => 'x'.repeat(5000)})], {maxCallBytes: 1000});
	const program = 'try:\n  big.tool()\nexcept ToolError as error:\n  print(error)';
	t.is(
		textOf(await runner.run(program)),
		'big.tool returned 5002 bytes; the limit is 1000. Request less data.',
	);
	await runner.close();
});

test('the memory is released when idle, and the next program restarts the interpreter', async t => {
	const runner = runnerOf([], {idleMs: 1});
	t.is(textOf(await runner.run('sum([1, 2])')), '3');
	await new Promise(resolve => {
		setTimeout(resolve, 50);
	});
	t.is(textOf(await runner.run('sum([1, 3])')), '4');
	await runner.close();
});

test('a pending call is cancelled when its program ends', async t => {
	const slow = gated();
	const runner = runnerOf([slow.pack]);
	const forged = `import os\nos.write(2, b'{"call": ["slow", "wait", [], {}]}\\n')\n5`;
	t.is(textOf(await runner.run(forged)), '5');
	t.is(slow.cancelled, 1);
	await runner.close();
});
