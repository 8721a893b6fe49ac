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

/** A program that has the functions under test. */
const start = (t: ExecutionContext, source: string, stdout: 'pipe' | number) => {
	const text = `import {nonBlockingOutput, whenFlushed} from ${JSON.stringify(url)};\n${source}`;
	const started = spawn(process.execPath, ['--input-type=module', '-e', text], {
		stdio: ['pipe', stdout, 'pipe'],
	});
	t.teardown(() => started.kill('SIGKILL'));
	return started;
};

test.serial('does not keep a program waiting for a reader of its pipe', async t => {
	const source = `const out = nonBlockingOutput(1); out.write('x'.repeat(10_000_000));
		setTimeout(() => process.stderr.write('still here'), 10);`;
	const {stdout, stderr} = start(t, source, 'pipe');
	let said = '';
	stderr?.on('data', text => {
		said += text;
	});
	stdout?.pause();
	await until(() => said.includes('still here'));
	t.pass();
});

test.serial('writes all to a reader that is slow, before the program ends', async t => {
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

test.serial('is flushed at once where nothing waits, and where nobody can take it', async t => {
	await whenFlushed(new PassThrough());
	const broken = new Writable({write: () => {}});
	broken.write('x');
	broken.destroy();
	await whenFlushed(broken);
	t.pass();
});

test.serial('is flushed once the last byte was taken', async t => {
	let take = (): void => {};
	const stream = new Writable({
		write(_chunk, _encoding, done) {
			take = done;
		},
	});
	stream.write('a');
	let isDone = false;
	const done = whenFlushed(stream).then(() => {
		isDone = true;
	});
	await new Promise(setImmediate);
	t.false(isDone);
	take();
	await done;
	t.is(stream.writableLength, 0);
});

test.serial('is flushed when the reader goes away', async t => {
	const stream = new Writable({write: () => {}});
	stream.on('error', () => {});
	stream.write('a');
	const done = whenFlushed(stream);
	stream.destroy(new Error('EPIPE'));
	await done;
	t.pass();
});
