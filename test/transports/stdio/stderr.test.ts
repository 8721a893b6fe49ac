import {Writable} from 'node:stream';
import test from 'ava';
import {openStderr} from '../../../lib/transports/stdio/stderr.js';
import {until} from '../../helpers/pipeline.js';

/** A stream whose reader the test is. */
function reader(): {stream: Writable; read: string[]; take(): void; takeAll(): void} {
	const waiting: Array<() => void> = [];
	const read: string[] = [];
	let isTaking = false;
	const stream = new Writable({
		write(chunk, _encoding, done) {
			read.push(String(chunk));
			if (isTaking) done();
			else waiting.push(done);
		},
	});
	const take = (): void => waiting.shift()?.();
	const takeAll = (): void => {
		isTaking = true;
		take();
	};
	return {stream, read, take, takeAll};
}

test.serial('writes text and bytes in order', async t => {
	const {stream, read, takeAll} = reader();
	const stderr = openStderr(stream);
	stderr.write('one\n');
	stderr.write(Buffer.from('two\n'));
	takeAll();
	await stderr.close();
	t.is(read.join(''), 'one\ntwo\n');
});

test.serial('keeps no more than its limit for a reader that does not read', t => {
	const {stream} = reader();
	const stderr = openStderr(stream);
	for (let count = 0; count < 1000; count++) stderr.write('x'.repeat(10_000));
	t.true(stream.writableLength <= 2 ** 20 + 10_000, `${stream.writableLength} bytes`);
});

test.serial('tells how much it left out as soon as there is room', async t => {
	const {stream, read, takeAll} = reader();
	const stderr = openStderr(stream);
	for (let count = 0; count < 200; count++) stderr.write('ü'.repeat(5000));
	const kept = stream.writableLength;
	takeAll();
	await until(() => read.at(-1)?.includes('left out') === true);
	t.regex(read.at(-1) ?? '', new RegExp(`^\\n\\[bridge\\] .* ${2_000_000 - kept} bytes were left out`));
	stderr.write('and on\n');
	await stderr.close();
	t.is(read.at(-1), 'and on\n');
});

test.serial('tells at its close what it left out', async t => {
	const {stream, read, takeAll} = reader();
	const stderr = openStderr(stream);
	for (let count = 0; count < 3; count++) stderr.write('x'.repeat(2 ** 20 + 1));
	const closed = stderr.close();
	takeAll();
	await closed;
	t.is(read.filter(text => text.includes('left out')).length, 1);
});

test.serial('writes to nobody without complaint', async t => {
	const {stream} = reader();
	const stderr = openStderr(stream);
	stderr.write('x');
	stream.destroy(new Error('EPIPE'));
	stderr.write('y');
	await stderr.close();
	t.pass();
});

test.serial('does not wait for ever for a reader that takes nothing', async t => {
	const {stream} = reader();
	const stderr = openStderr(stream);
	stderr.write('x');
	let isClosed = false;
	void stderr.close().then(() => {
		isClosed = true;
	});
	await until(() => isClosed);
	t.is(stream.writableLength, 1);
});

test.serial('is no terminal where this process has none', t => {
	t.is(openStderr(reader().stream).isTerminal, process.stderr.isTTY === true);
});
