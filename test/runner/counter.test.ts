import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import process from 'node:process';
import type {Readable} from 'node:stream';
import {fileURLToPath} from 'node:url';
import test, {type ExecutionContext} from 'ava';
import split2 from 'split2';
import {tempFolder} from '../helpers/temp-folder.js';
import {TestCounter} from './counter.js';

const packages = fileURLToPath(new URL('../../../node_modules', import.meta.url));

/** The counts of a real run of ava over these test files. */
async function countsOf(t: ExecutionContext, files: {readonly [name: string]: string}) {
	const folder = tempFolder(t);
	await symlink(packages, join(folder, 'node_modules'));
	await writeFile(
		join(folder, 'package.json'),
		'{"type": "module", "ava": {"files": ["*.js"], "timeout": "3m"}}',
	);
	for (const [name, text] of Object.entries(files))
		await writeFile(join(folder, name), `import test from 'ava';\n${text}`);
	const ava = spawn(process.execPath, [join(packages, 'ava/entrypoints/cli.mjs')], {
		cwd: folder,
		stdio: ['ignore', 'pipe', 'ignore'],
		env: {...process.env, FORCE_COLOR: '1'},
	});
	const counter = new TestCounter();
	const closed = once(ava, 'close');
	for await (const line of (ava.stdout as Readable).pipe(split2())) counter.add(line);
	const [code] = await closed;
	return counter.end(code);
}

const twoPass = "test('a', t => t.pass());\ntest('b', t => t.pass());\n";

test('counts passed tests when all pass', async t => {
	t.deepEqual(await countsOf(t, {'a.js': twoPass}), {
		summary: '2 passed, 0 failed, 0 skipped',
		exitCode: 0,
	});
});

test('counts passed and failed tests when some fail', async t => {
	const oneFails = "test('c', t => t.fail());\n";
	t.deepEqual(await countsOf(t, {'a.js': twoPass, 'b.js': twoPass + oneFails}), {
		summary: '4 passed, 1 failed, 0 skipped',
		exitCode: 1,
	});
});

test('counts a file that fails outside its tests as one failure', async t => {
	const broken = "throw new Error('broken');\n";
	t.deepEqual(await countsOf(t, {'a.js': twoPass, 'b.js': broken}), {
		summary: '2 passed, 1 failed, 0 skipped',
		exitCode: 1,
	});
});

test('fails a run in which tests are skipped', async t => {
	const skipped = "test.skip('c', t => t.pass());\ntest.todo('d');\n";
	t.deepEqual(await countsOf(t, {'a.js': twoPass + skipped}), {
		summary: '2 passed, 0 failed, 2 skipped',
		exitCode: 1,
	});
});
