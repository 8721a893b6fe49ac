import {Writable} from 'node:stream';
import test from 'ava';
import {openStderr} from '../../../lib/transports/stdio/stderr.js';
import {until} from '../../helpers/pipeline.js';

/** A stream with a reader that the test controls. */
function reader(): {stream: Writable; read: string[]; completeWrite(): void; completeAll(): void} {
	const pendingWrites: Array<() => void> = [];
	const read: string[] = [];
	let isReading = false;
	const stream = new Writable({
		write(chunk, _encoding, done) {
			read.push(String(chunk));
			if (isReading) done();
			else pendingWrites.push(done);
		},
	});
	const completeWrite = (): void => pendingWrites.shift()?.();
	const completeAll = (): void => {
		isReading = true;
		completeWrite();
	};
	return {stream, read, completeWrite, completeAll};
}

test.serial('writes text and bytes in order', async t => {
	const {stream, read, completeAll} = reader();
	const stderr = openStderr(stream);
	stderr.write('one\n');
	stderr.write(Buffer.from('two\n'));
	completeAll();
	await stderr.close();
	t.is(read.join(''), 'one\ntwo\n');
});

test.serial('buffers at most the limit while the reader does not read', t => {
	const {stream} = reader();
	const stderr = openStderr(stream);
	for (let count = 0; count < 1000; count++) stderr.write('x'.repeat(10_000));
	t.true(stream.writableLength <= 2 ** 20 + 10_000, `${stream.writableLength} bytes`);
});

test.serial('reports the number of dropped bytes when the stream drains', async t => {
	const {stream, read, completeAll} = reader();
	const stderr = openStderr(stream);
	for (let count = 0; count < 200; count++) stderr.write('ü'.repeat(5000));
	const kept = stream.writableLength;
	completeAll();
	await until(() => read.at(-1)?.includes('dropped') === true);
	t.regex(read.at(-1) ?? '', new RegExp(`^\\n\\[bridge\\] .* ${2_000_000 - kept} bytes were dropped`));
	stderr.write('and on\n');
	await stderr.close();
	t.is(read.at(-1), 'and on\n');
});

test.serial('reports dropped bytes on close', async t => {
	const {stream, read, completeAll} = reader();
	const stderr = openStderr(stream);
	for (let count = 0; count < 3; count++) stderr.write('x'.repeat(2 ** 20 + 1));
	const closed = stderr.close();
	completeAll();
	await closed;
	t.is(read.filter(text => text.includes('dropped')).length, 1);
});

test.serial('ignores writes after the reader has disconnected', async t => {
	const {stream} = reader();
	const stderr = openStderr(stream);
	stderr.write('x');
	stream.destroy(new Error('EPIPE'));
	stderr.write('y');
	await stderr.close();
	t.pass();
});

test.serial('closes in bounded time although the reader does not read', async t => {
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

test.serial('reports whether the stderr of this process is a terminal', t => {
	t.is(openStderr(reader().stream).isTerminal, process.stderr.isTTY === true);
});
