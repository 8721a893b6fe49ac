import {chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {writeAtomically} from '../../lib/files/atomic-write.js';
import {GroupCommit} from '../../lib/files/group-commit.js';
import {tempFolder} from '../helpers/temp-folder.js';

test('replaces a file with mode 0600 and leaves no other files', async t => {
	const folder = tempFolder(t);
	const path = join(folder, 'a.json');
	writeFileSync(path, 'old', {mode: 0o644});
	await writeAtomically(path, 'new');
	t.is(readFileSync(path, 'utf8'), 'new');
	t.is(statSync(path).mode & 0o777, 0o600);
	t.deepEqual(readdirSync(folder), ['a.json']);
});

test('replaces a link and does not change its target [G7]', async t => {
	const folder = tempFolder(t);
	const target = join(folder, 'target');
	writeFileSync(target, 'original');
	symlinkSync(target, join(folder, 'link'));
	await writeAtomically(join(folder, 'link'), 'new');
	t.is(readFileSync(target, 'utf8'), 'original');
	t.is(readFileSync(join(folder, 'link'), 'utf8'), 'new');
});

test('keeps the old content and leaves no temporary file after a failure [G2]', async t => {
	const folder = tempFolder(t);
	const path = join(folder, 'a.json');
	// A file cannot replace a folder.
	mkdirSync(path);
	await t.throwsAsync(writeAtomically(path, 'new'));
	t.true(statSync(path).isDirectory());
	t.deepEqual(readdirSync(folder), ['a.json']);
	await t.throwsAsync(writeAtomically(join(folder, 'none', 'b.json'), 'x'), {code: 'ENOENT'});
	chmodSync(path, 0o700);
});

test('combines all requests during a save into one more save', async t => {
	const ends: Array<(error?: Error) => void> = [];
	const commits = new GroupCommit(
		() => new Promise((resolve, reject) => ends.push(error => (error ? reject(error) : resolve()))),
	);
	const tick = (): Promise<void> => new Promise(setImmediate);
	const first = [commits.commit(), commits.commit()];
	await tick();
	t.is(ends.length, 1);
	const second = [commits.commit(), commits.commit(), commits.commit()];
	await tick();
	t.is(ends.length, 1, 'the second save is queued');
	ends[0]?.(new Error('disk'));
	for (const one of first) await t.throwsAsync(one, {message: 'disk'});
	await tick();
	t.is(ends.length, 2);
	ends[1]?.();
	await Promise.all(second);
	await commits.pending();
	t.is(ends.length, 2);
});
