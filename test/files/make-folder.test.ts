import {statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {makeFolder} from '../../lib/files/make-folder.js';
import {tempFolder} from '../helpers/temp-folder.js';

test('creates a folder and its parents with mode 0700, and accepts an existing one', async t => {
	const folder = join(tempFolder(t), 'one', 'two', 'three');
	await makeFolder(folder);
	await makeFolder(folder);
	t.is(statSync(folder).mode & 0o777, 0o700);
	t.is(statSync(join(folder, '..')).mode & 0o777, 0o700);
});

test('creates a folder whose path contains a missing folder and ..', async t => {
	const folder = tempFolder(t);
	await makeFolder(`${folder}/one/../two`);
	await makeFolder(`${folder}/two/three/`);
	t.true(statSync(`${folder}/one/../two/three`).isDirectory());
});

test('creates the same folder concurrently', async t => {
	const folder = join(tempFolder(t), 'one', 'two');
	await t.notThrowsAsync(Promise.all(Array.from({length: 10}, () => makeFolder(folder))));
	t.true(statSync(folder).isDirectory());
});

test('throws if the path contains a file', async t => {
	const file = join(tempFolder(t), 'file');
	writeFileSync(file, '');
	await t.throwsAsync(makeFolder(file), {code: 'EEXIST'});
	await t.throwsAsync(makeFolder(join(file, 'folder')), {code: 'ENOTDIR'});
});

test('throws for /proc instead of looping', async t => {
	await t.throwsAsync(makeFolder('/proc/bridge/logs'), {code: 'ENOENT'});
});
