import {spawn} from 'node:child_process';
import {openSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import {PassThrough, Writable} from 'node:stream';
import test, {type ExecutionContext} from 'ava';
import {whenFlushed} from '../../../lib/transports/stdio/own-fds.js';
import {until} from '../../helpers/pipeline.js';
import {tempFolder} from '../../helpers/temp-folder.js';

const url = new URL('../../../lib/transports/stdio/own-fds.js', import.meta.url);

/** Starts a program with the functions under test in scope. */
const start = (t: ExecutionContext, source: string, stdout: 'pipe' | number) => {
	const text = `import {nonBlockingOutput, whenFlushed} from ${JSON.stringify(url)};\n${source}`;
	const started = spawn(process.execPath, ['--input-type=module', '-e', text], {
		stdio: ['pipe', stdout, 'pipe'],
	});
	t.teardown(() => started.kill('SIGKILL'));
	return started;
};

test.serial('does not block a program on the reader of its pipe', async t => {
	const source = `const out = nonBlockingOutput(1); out.write('x'.repeat(10_000_000));
		setTimeout(() => process.stderr.write('still here'), 10);`;
	const {stdout, stderr} = start(t, source, 'pipe');
	let output = '';
	stderr?.on('data', text => {
		output += text;
	});
	stdout?.pause();
	await until(() => output.includes('still here'));
	t.pass();
});

test.serial('writes all data to a slow reader before the program exits', async t => {
	const source = `const out = nonBlockingOutput(1); out.write('x'.repeat(10_000_000)); await whenFlushed(out); process.exit(0);`;
	const {stdout} = start(t, source, 'pipe');
	const chunks = (await stdout?.toArray()) as Buffer[];
	t.is(Buffer.concat(chunks).length, 10_000_000);
});

test.serial('writes to a file in order', async t => {
	const file = join(tempFolder(t), 'out');
	const source = `const out = nonBlockingOutput(1); for (let i = 0; i < 1000; i++) out.write(i + '\\n'); await whenFlushed(out); process.exit(0);`;
	const started = start(t, source, openSync(file, 'w'));
	await new Promise(closed => started.once('close', closed));
	t.is(readFileSync(file, 'utf8'), Array.from({length: 1000}, (_, index) => `${index}\n`).join(''));
});

test.serial('resolves whenFlushed immediately for an empty and for a destroyed stream', async t => {
	await whenFlushed(new PassThrough());
	const broken = new Writable({write: () => {}});
	broken.write('x');
	broken.destroy();
	await whenFlushed(broken);
	t.pass();
});

test.serial('resolves whenFlushed after the last write has completed', async t => {
	let completeWrite = (): void => {};
	const stream = new Writable({
		write(_chunk, _encoding, done) {
			completeWrite = done;
		},
	});
	stream.write('a');
	let isDone = false;
	const done = whenFlushed(stream).then(() => {
		isDone = true;
	});
	await new Promise(setImmediate);
	t.false(isDone);
	completeWrite();
	await done;
	t.is(stream.writableLength, 0);
});

test.serial('resolves whenFlushed when the reader disconnects', async t => {
	const stream = new Writable({write: () => {}});
	stream.on('error', () => {});
	stream.write('a');
	const done = whenFlushed(stream);
	stream.destroy(new Error('EPIPE'));
	await done;
	t.pass();
});
