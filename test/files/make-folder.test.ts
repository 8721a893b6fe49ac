import {statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {makeFolder} from '../../lib/files/make-folder.js';
import {tempFolder} from '../helpers/temp-folder.js';

test('a folder is made with those above it, for its owner alone, and may be there already', async t => {
	const folder = join(tempFolder(t), 'one', 'two', 'three');
	await makeFolder(folder);
	await makeFolder(folder);
	t.is(statSync(folder).mode & 0o777, 0o700);
	t.is(statSync(join(folder, '..')).mode & 0o777, 0o700);
});

test('a folder is made as it is named, also by way of one that is not there', async t => {
	const folder = tempFolder(t);
	await makeFolder(`${folder}/one/../two`);
	await makeFolder(`${folder}/two/three/`);
	t.true(statSync(`${folder}/one/../two/three`).isDirectory());
});

test('several may make the same folder at once', async t => {
	const folder = join(tempFolder(t), 'one', 'two');
	await t.notThrowsAsync(Promise.all(Array.from({length: 10}, () => makeFolder(folder))));
	t.true(statSync(folder).isDirectory());
});

test('a file in the way is an error', async t => {
	const file = join(tempFolder(t), 'file');
	writeFileSync(file, '');
	await t.throwsAsync(makeFolder(file), {code: 'EEXIST'});
	await t.throwsAsync(makeFolder(join(file, 'folder')), {code: 'ENOTDIR'});
});

test('where the system says that the folder above is missing, though it is not, that is an error and no loop', async t => {
	await t.throwsAsync(makeFolder('/proc/bridge/logs'), {code: 'ENOENT'});
});
