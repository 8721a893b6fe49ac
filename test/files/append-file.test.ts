import {appendFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {setImmediate} from 'node:timers/promises';
import test from 'ava';
import {appendBuffers, terminateLastLine, writeBuffers} from '../../lib/files/append-file.js';
import {tempFolder} from '../helpers/temp-folder.js';

const lines = (...texts: string[]): Buffer[] => texts.map(text => Buffer.from(`${text}\n`));

test('makes a file for its owner alone', async t => {
	const file = join(tempFolder(t), 'log');
	await appendBuffers(file, lines('a'));
	t.is(statSync(file).mode & 0o777, 0o600);
	t.is(readFileSync(file, 'utf8'), 'a\n');
});

test('adds to what is there', async t => {
	const file = join(tempFolder(t), 'log');
	writeFileSync(file, 'old\n', {mode: 0o640});
	await appendBuffers(file, lines('a', 'b'));
	t.is(readFileSync(file, 'utf8'), 'old\na\nb\n');
	t.is(statSync(file).mode & 0o777, 0o600);
});

test('ends a line that an earlier crash left torn', async t => {
	const file = join(tempFolder(t), 'log');
	writeFileSync(file, 'old\n{"torn');
	await terminateLastLine(file);
	await appendBuffers(file, lines('a'));
	t.is(readFileSync(file, 'utf8'), 'old\n{"torn\na\n');
});

test('goes on in the middle of a line', async t => {
	const file = join(tempFolder(t), 'log');
	writeFileSync(file, 'half');
	await appendBuffers(file, lines(' and half'));
	t.is(readFileSync(file, 'utf8'), 'half and half\n');
});

test('takes from the list what it has written', async t => {
	const buffers = lines('a', 'b');
	await appendBuffers(join(tempFolder(t), 'log'), buffers);
	t.deepEqual(buffers, []);
});

test('leaves in the list what it could not write', async t => {
	const folder = join(tempFolder(t), 'gone');
	const buffers = lines('a', 'b');
	await t.throwsAsync(appendBuffers(join(folder, 'log'), buffers), {code: 'ENOENT'});
	t.deepEqual(buffers, lines('a', 'b'));
	mkdirSync(folder);
	await appendBuffers(join(folder, 'log'), buffers);
	t.is(readFileSync(join(folder, 'log'), 'utf8'), 'a\nb\n');
});

test('writes more buffers than one system call takes', async t => {
	const file = join(tempFolder(t), 'log');
	const many = Array.from({length: 3000}, (_, index) => `line ${index}`);
	await appendBuffers(file, lines(...many));
	t.is(readFileSync(file, 'utf8'), `${many.join('\n')}\n`);
});

test('writes to something that is no file without looking for its last line', async t => {
	const buffers = lines('a');
	await terminateLastLine('/dev/null');
	await appendBuffers('/dev/null', buffers);
	t.deepEqual(buffers, []);
});

test('makes a file anew that was taken away', async t => {
	const file = join(tempFolder(t), 'log');
	await appendBuffers(file, lines('a'));
	rmSync(file);
	await appendBuffers(file, lines('b'));
	appendFileSync(file, 'c\n');
	t.is(readFileSync(file, 'utf8'), 'b\nc\n');
});

test('leaves a last line alone that has its end', async t => {
	const file = join(tempFolder(t), 'log');
	writeFileSync(file, 'old\n');
	await terminateLastLine(file);
	t.is(readFileSync(file, 'utf8'), 'old\n');
});

/** Something that is written to piece by piece, and what waited for it each time it had written. */
function slowly(pieces: string[], take: (some: Buffer[]) => number) {
	const buffers: Buffer[] = [];
	const waited: string[] = [];
	const refill = (): void => {
		const piece = pieces.shift();
		if (piece !== undefined) buffers.push(Buffer.from(piece));
	};
	const write = async (some: Buffer[]): Promise<number> => {
		const bytes = take(some);
		await setImmediate();
		waited.push(buffers.join());
		return bytes;
	};
	return {waited, buffers, all: () => writeBuffers(buffers, refill, write)};
}

test('asks for the next piece while the last one is being written, and for no more', async t => {
	const {waited, all} = slowly(['a', 'b', 'c'], ([first]) => first?.length ?? 0);
	await all();
	t.deepEqual(waited, ['a,b', 'b,c', 'c']);
});

test('asks for no more while what was not taken still waits', async t => {
	const {waited, all} = slowly(['abc', 'd', 'e'], () => 1);
	await all();
	t.deepEqual(waited, ['abc,d', 'bc,d', 'c,d', 'd,e', 'e']);
});

test('keeps the next piece behind one that could not be written', async t => {
	let isFailing = true;
	const {waited, buffers, all} = slowly(['a', 'b'], some => {
		if (isFailing) throw new Error('no room');
		return some.join('').length;
	});
	await t.throwsAsync(all(), {message: 'no room'});
	t.is(buffers.join(), 'a,b');
	isFailing = false;
	await all();
	t.deepEqual(waited, ['a,b']);
});
