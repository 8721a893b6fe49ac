import {spawn} from 'node:child_process';
import {once} from 'node:events';
import type {Socket} from 'node:net';
import {constants, PerformanceObserver} from 'node:perf_hooks';
import {PassThrough} from 'node:stream';
import {setImmediate} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {reuseReadBuffer} from '../../../lib/core/fast/reused-read-buffer.js';

/** Starts a process that echoes its input, and records the chunks that are read. */
const start = (t: ExecutionContext) => {
	const cat = spawn('cat', {stdio: ['pipe', 'pipe', 'inherit']});
	t.teardown(() => cat.kill('SIGKILL'));
	const output = reuseReadBuffer(cat.stdout as Socket);
	const chunks: Buffer[] = [];
	output.on('data', (chunk: Buffer) => chunks.push(chunk));
	return {input: cat.stdin, output, chunks};
};

test('emits nothing before it is resumed', async t => {
	const {input, output, chunks} = start(t);
	await new Promise<void>(written => {
		input.end('hello', () => written());
	});
	for (let round = 0; round < 50; round++) await setImmediate();
	t.is(chunks.length, 0);
	output.resume();
	await once(output, 'end');
	t.is(Buffer.concat(chunks).toString(), 'hello');
});

test('does not overwrite a short chunk when the next one is read', async t => {
	const {input, output, chunks} = start(t);
	output.resume();
	input.write('first');
	await once(output, 'data');
	input.end('other');
	await once(output, 'end');
	t.is(chunks[0]?.toString(), 'first');
});

test('does not overwrite a long chunk when the next one is read', async t => {
	const {input, output, chunks} = start(t);
	output.resume();
	const text = Array.from({length: 200_000}, (_, index) => `${index}\n`).join('');
	input.end(text);
	await once(output, 'end');
	t.true(chunks.some(({length}) => length > 8192));
	t.is(Buffer.concat(chunks).toString(), text);
});

test('stops reading while paused, and closes after the last chunk', async t => {
	const {input, output, chunks} = start(t);
	output.resume();
	input.write('x'.repeat(1_000_000));
	await once(output, 'data');
	output.pause();
	const count = chunks.length;
	for (let round = 0; round < 50; round++) await setImmediate();
	t.is(chunks.length, count);
	output.resume();
	input.end();
	await once(output, 'close');
	t.is(Buffer.concat(chunks).length, 1_000_000);
});

test('returns a stream without a handle unchanged', t => {
	const stream = new PassThrough() as unknown as Socket;
	t.is(reuseReadBuffer(stream), stream);
});

test('collects the memory of long messages with minor collections', async t => {
	const kinds: number[] = [];
	const observer = new PerformanceObserver(list => {
		for (const entry of list.getEntries())
			kinds.push((entry as unknown as {detail: {kind: number}}).detail.kind);
	});
	observer.observe({entryTypes: ['gc']});
	const {input, output} = start(t);
	let length = 0;
	output.removeAllListeners('data').on('data', (chunk: Buffer) => {
		length += chunk.length;
	});
	output.resume();
	for (let part = 0; part < 256; part++) input.write(Buffer.alloc(2 ** 20));
	input.end();
	await once(output, 'end');
	await setImmediate();
	observer.disconnect();
	t.is(length, 2 ** 28);
	t.true(kinds.filter(kind => kind === constants.NODE_PERFORMANCE_GC_MINOR).length >= 12);
});
