import {spawn} from 'node:child_process';
import {once} from 'node:events';
import type {Socket} from 'node:net';
import {constants, PerformanceObserver} from 'node:perf_hooks';
import {PassThrough} from 'node:stream';
import {setImmediate} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import {reuseReadBuffer} from '../../../lib/core/fast/reused-read-buffer.js';

/** A program that says what it is told, and what bridge reads of it. */
const start = (t: ExecutionContext) => {
	const cat = spawn('cat', {stdio: ['pipe', 'pipe', 'inherit']});
	t.teardown(() => cat.kill('SIGKILL'));
	const output = reuseReadBuffer(cat.stdout as Socket);
	const chunks: Buffer[] = [];
	output.on('data', (chunk: Buffer) => chunks.push(chunk));
	return {input: cat.stdin, output, chunks};
};

test('says nothing before it is resumed, and all of it then', async t => {
	const {input, output, chunks} = start(t);
	await new Promise<void>(written => {
		input.end('hello', () => written());
	});
	for (let turn = 0; turn < 50; turn++) await setImmediate();
	t.is(chunks.length, 0);
	output.resume();
	await once(output, 'end');
	t.is(Buffer.concat(chunks).toString(), 'hello');
});

test('a short chunk that somebody keeps stays what it was when the next one comes', async t => {
	const {input, output, chunks} = start(t);
	output.resume();
	input.write('first');
	await once(output, 'data');
	input.end('other');
	await once(output, 'end');
	t.is(chunks[0]?.toString(), 'first');
});

test('so does a long one', async t => {
	const {input, output, chunks} = start(t);
	output.resume();
	const text = Array.from({length: 200_000}, (_, index) => `${index}\n`).join('');
	input.end(text);
	await once(output, 'end');
	t.true(chunks.some(({length}) => length > 8192));
	t.is(Buffer.concat(chunks).toString(), text);
});

test('is read no further while it is paused, and closes after the last of it', async t => {
	const {input, output, chunks} = start(t);
	output.resume();
	input.write('x'.repeat(1_000_000));
	await once(output, 'data');
	output.pause();
	const seen = chunks.length;
	for (let turn = 0; turn < 50; turn++) await setImmediate();
	t.is(chunks.length, seen);
	output.resume();
	input.end();
	await once(output, 'close');
	t.is(Buffer.concat(chunks).length, 1_000_000);
});

test('what has no descriptor is left as it is', t => {
	const stream = new PassThrough() as unknown as Socket;
	t.is(reuseReadBuffer(stream), stream);
});

test('memory for long messages is collected in small steps, not by full collections alone', async t => {
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
