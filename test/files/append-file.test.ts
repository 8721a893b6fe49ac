import {appendFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {setImmediate} from 'node:timers/promises';
import test from 'ava';
import {appendBuffers, terminateLastLine, writeBuffers} from '../../lib/files/append-file.js';
import {tempFolder} from '../helpers/temp-folder.js';

const lines = (...texts: string[]): Buffer[] => texts.map(text => Buffer.from(`${text}\n`));

test('creates a file with mode 0600', async t => {
	const file = join(tempFolder(t), 'log');
	await appendBuffers(file, lines('a'));
	t.is(statSync(file).mode & 0o777, 0o600);
	t.is(readFileSync(file, 'utf8'), 'a\n');
});

test('appends to an existing file', async t => {
	const file = join(tempFolder(t), 'log');
	writeFileSync(file, 'old\n', {mode: 0o640});
	await appendBuffers(file, lines('a', 'b'));
	t.is(readFileSync(file, 'utf8'), 'old\na\nb\n');
	t.is(statSync(file).mode & 0o777, 0o600);
});

test('terminates a line that was truncated by a crash', async t => {
	const file = join(tempFolder(t), 'log');
	writeFileSync(file, 'old\n{"torn');
	await terminateLastLine(file);
	await appendBuffers(file, lines('a'));
	t.is(readFileSync(file, 'utf8'), 'old\n{"torn\na\n');
});

test('continues in the middle of a line', async t => {
	const file = join(tempFolder(t), 'log');
	writeFileSync(file, 'half');
	await appendBuffers(file, lines(' and half'));
	t.is(readFileSync(file, 'utf8'), 'half and half\n');
});

test('removes written buffers from the list', async t => {
	const buffers = lines('a', 'b');
	await appendBuffers(join(tempFolder(t), 'log'), buffers);
	t.deepEqual(buffers, []);
});

test('keeps unwritten buffers in the list', async t => {
	const folder = join(tempFolder(t), 'missing');
	const buffers = lines('a', 'b');
	await t.throwsAsync(appendBuffers(join(folder, 'log'), buffers), {code: 'ENOENT'});
	t.deepEqual(buffers, lines('a', 'b'));
	mkdirSync(folder);
	await appendBuffers(join(folder, 'log'), buffers);
	t.is(readFileSync(join(folder, 'log'), 'utf8'), 'a\nb\n');
});

test('writes more buffers than fit in one system call', async t => {
	const file = join(tempFolder(t), 'log');
	const many = Array.from({length: 3000}, (_, index) => `line ${index}`);
	await appendBuffers(file, lines(...many));
	t.is(readFileSync(file, 'utf8'), `${many.join('\n')}\n`);
});

test('writes to a device without reading its last line', async t => {
	const buffers = lines('a');
	await terminateLastLine('/dev/null');
	await appendBuffers('/dev/null', buffers);
	t.deepEqual(buffers, []);
});

test('creates a file again that was removed', async t => {
	const file = join(tempFolder(t), 'log');
	await appendBuffers(file, lines('a'));
	rmSync(file);
	await appendBuffers(file, lines('b'));
	appendFileSync(file, 'c\n');
	t.is(readFileSync(file, 'utf8'), 'b\nc\n');
});

test('does not change a terminated last line', async t => {
	const file = join(tempFolder(t), 'log');
	writeFileSync(file, 'old\n');
	await terminateLastLine(file);
	t.is(readFileSync(file, 'utf8'), 'old\n');
});

/** Sets up a slow write, and records the buffers in the list after each one. */
function slowWriter(pieces: string[], accept: (batch: Buffer[]) => number) {
	const buffers: Buffer[] = [];
	const queuedAfterWrite: string[] = [];
	const refill = (): void => {
		const piece = pieces.shift();
		if (piece !== undefined) buffers.push(Buffer.from(piece));
	};
	const write = async (batch: Buffer[]): Promise<number> => {
		const bytes = accept(batch);
		await setImmediate();
		queuedAfterWrite.push(buffers.join());
		return bytes;
	};
	return {queuedAfterWrite, buffers, run: () => writeBuffers(buffers, refill, write)};
}

test('refills once while the last buffer is being written', async t => {
	const {queuedAfterWrite, run} = slowWriter(['a', 'b', 'c'], ([first]) => first?.length ?? 0);
	await run();
	t.deepEqual(queuedAfterWrite, ['a,b', 'b,c', 'c']);
});

test('does not refill while a partially written buffer is in the list', async t => {
	const {queuedAfterWrite, run} = slowWriter(['abc', 'd', 'e'], () => 1);
	await run();
	t.deepEqual(queuedAfterWrite, ['abc,d', 'bc,d', 'c,d', 'd,e', 'e']);
});

test('keeps the order of buffers after a failed write', async t => {
	let isFailing = true;
	const {queuedAfterWrite, buffers, run} = slowWriter(['a', 'b'], batch => {
		if (isFailing) throw new Error('disk full');
		return batch.join('').length;
	});
	await t.throwsAsync(run(), {message: 'disk full'});
	t.is(buffers.join(), 'a,b');
	isFailing = false;
	await run();
	t.deepEqual(queuedAfterWrite, ['a,b']);
});
