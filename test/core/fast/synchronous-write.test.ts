import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {PassThrough, type Writable} from 'node:stream';
import test, {type ExecutionContext} from 'ava';
import {synchronousWriter} from '../../../lib/core/fast/synchronous-write.js';

const start = (t: ExecutionContext, ...words: string[]): ChildProcess & {readonly stdin: Writable} => {
	const [command = 'cat', ...args] = words;
	const started = spawn(command, args, {stdio: ['pipe', 'pipe', 'inherit']});
	t.teardown(() => started.kill('SIGKILL'));
	return started;
};

test('writes bytes synchronously if the pipe has space', async t => {
	const {stdin, stdout} = start(t);
	t.true(synchronousWriter(stdin)(Buffer.from('hello')));
	t.is(stdin.writableLength, 0);
	const [chunk] = stdout ? await once(stdout, 'data') : [];
	t.is(String(chunk), 'hello');
});

test('writes the rest later, in order, and returns false while the pipe is full', async t => {
	const {stdin, stdout} = start(t);
	const write = synchronousWriter(stdin);
	const lines = Array.from({length: 100_000}, (_, index) => `line ${index}\n`);
	let isFull = false;
	for (const line of lines) isFull = !write(Buffer.from(line)) || isFull;
	t.true(isFull);
	stdin.end();
	const chunks: Buffer[] = stdout ? await stdout.toArray() : [];
	t.is(Buffer.concat(chunks).toString(), lines.join(''));
});

test('reports a closed pipe by the error of the stream', async t => {
	const {stdin, stdout} = start(t, 'sh', '-c', 'exec 0<&-; echo closed; exec sleep 60');
	if (stdout) await once(stdout, 'data');
	const failed = once(stdin, 'error');
	synchronousWriter(stdin)(Buffer.from('hello'));
	const [error] = await failed;
	t.is(error.code, 'EPIPE');
});

test('writes to a stream without a descriptor', t => {
	const stream = new PassThrough();
	synchronousWriter(stream)(Buffer.from('hello'));
	t.is(String(stream.read()), 'hello');
});
