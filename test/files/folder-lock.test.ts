import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {utimes} from 'node:fs/promises';
import {join} from 'node:path';
import process from 'node:process';
import test from 'ava';
import {withFolderLock} from '../../lib/files/folder-lock.js';
import {livenessOf, ownProcessIdentity} from '../../lib/files/process-identity.js';
import {tempFolder} from '../helpers/temp-folder.js';

const moduleUrl = new URL('../../lib/files/folder-lock.js', import.meta.url).href;

/** A program that increments the number in a file under the lock, this many times. */
const counter = (folder: string, times: number) => `
	import {readFileSync, writeFileSync} from 'node:fs';
	import {withFolderLock} from ${JSON.stringify(moduleUrl)};
	const file = ${JSON.stringify(join(folder, 'count'))};
	for (let at = 0; at < ${times}; at++)
		await withFolderLock(${JSON.stringify(join(folder, 'lock'))}, async () => {
			const count = Number(readFileSync(file, 'utf8'));
			await new Promise(setImmediate);
			writeFileSync(file, String(count + 1));
		});`;

test('serializes increments by three processes', async t => {
	const folder = tempFolder(t);
	writeFileSync(join(folder, 'count'), '0');
	const args = ['--input-type=module', '-e', counter(folder, 60)];
	const children = [1, 2, 3].map(() => spawn(process.execPath, args, {stdio: 'inherit'}));
	const codes = await Promise.all(children.map(async child => (await once(child, 'exit'))[0]));
	t.deepEqual(codes, [0, 0, 0]);
	t.is(readFileSync(join(folder, 'count'), 'utf8'), '180');
	t.deepEqual(readdirSync(join(folder, 'lock')), []);
});

test('serializes actions within a process, also after a failure', async t => {
	const folder = join(tempFolder(t), 'lock');
	const seen: string[] = [];
	const step = (name: string) => async () => {
		seen.push(`${name} in`);
		await new Promise(setImmediate);
		seen.push(`${name} out`);
		if (name === 'a') throw new Error('a failed');
		return name;
	};
	const [a, b] = await Promise.allSettled([
		withFolderLock(folder, step('a')),
		withFolderLock(folder, step('b')),
	]);
	t.is(a.status, 'rejected');
	t.like(b, {value: 'b'});
	t.deepEqual(seen, ['a in', 'a out', 'b in', 'b out']);
});

test('ignores tickets of dead processes and old tickets of other machines', async t => {
	const folder = join(tempFolder(t), 'lock');
	await withFolderLock(folder, async () => {});
	const dead = ownProcessIdentity().replace(/-\d+-\d+$/, '-4194304-5');
	const foreign = ownProcessIdentity().replace(/^.{8}/, '00000000');
	t.is(livenessOf(dead), 'dead');
	t.is(livenessOf(foreign), 'foreign');
	t.is(livenessOf(ownProcessIdentity()), 'alive');
	t.is(livenessOf('nonsense'), 'dead');
	for (const name of [`${dead}.0.1`, `${dead}.1.choosing`, `${foreign}.0.1`])
		writeFileSync(join(folder, name), '');
	const longAgo = new Date(Date.now() - 60_000);
	await utimes(join(folder, `${foreign}.0.1`), longAgo, longAgo);
	t.is(await withFolderLock(folder, async () => 'in'), 'in');
	t.deepEqual(readdirSync(folder), []);
});

test('times out and reports the pid if the owner is stopped', async t => {
	const folder = tempFolder(t);
	const lock = join(folder, 'lock');
	const program = `
		import {withFolderLock} from ${JSON.stringify(moduleUrl)};
		await withFolderLock(${JSON.stringify(lock)}, async () => {
			process.stdout.write('in');
			await new Promise(resolve => process.stdin.once('data', resolve));
		});
		process.exit();`;
	const args = ['--input-type=module', '-e', program];
	const child = spawn(process.execPath, args, {stdio: ['pipe', 'pipe', 'inherit']});
	t.teardown(() => child.kill('SIGKILL'));
	await once(child.stdout, 'data');
	child.kill('SIGSTOP');
	await t.throwsAsync(
		withFolderLock(lock, async () => t.fail()),
		{message: `Process ${child.pid} has locked ${lock} for more than 5 s.`},
	);
	child.kill('SIGCONT');
	child.stdin.write('continue');
	t.is(await withFolderLock(lock, async () => 'in'), 'in');
});
