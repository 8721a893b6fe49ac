import {spawn} from 'node:child_process';
import {once} from 'node:events';
import process from 'node:process';
import {Worker} from 'node:worker_threads';
import test from 'ava';
import {
	isTreeAlive,
	lookForTree,
	MARK,
	newMark,
	orphans,
	send,
	signalTree,
	ticks,
} from '../../lib/transports/process-tree.js';
import {until} from '../operators/support.js';
import {isRunning, READY, STAYS, startProcess} from './programs.js';

const url = new URL('../../lib/transports/process-tree.js', import.meta.url);

/** The mark of a bridge that is no more: this namespace, but no process started when it says. */
const deadMark = (): string => newMark().replace(/:\d+:\d+:(?=\w+$)/, ':1:never:');

test.serial('marks each child with a mark of its own', t => {
	t.is(new Set([newMark(), newMark(), newMark()]).size, 3);
});

test.serial('gives children of two threads two marks', async t => {
	const source = `import('${url}').then(({newMark}) => require('node:worker_threads').parentPort.postMessage(newMark()))`;
	const marks = [new Worker(source, {eval: true}), new Worker(source, {eval: true})].map(async worker => {
		const [mark] = await once(worker, 'message');
		return mark as string;
	});
	const [one, other] = await Promise.all(marks);
	t.not(one, other);
});

test.serial('knows a marked process, until it has ended', async t => {
	const mark = newMark();
	const {pid = 0, ...started} = startProcess(t, STAYS, {[MARK]: mark});
	t.true(isTreeAlive(pid, mark));
	process.kill(pid, 'SIGKILL');
	await until(() => !isTreeAlive(pid, mark));
	t.false(isRunning(pid));
	t.truthy(started);
});

test.serial('signals all that has the mark, whoever started it, and nobody else', async t => {
	const mark = newMark();
	const [one, other, stranger] = [mark, mark, newMark()].map(own => startProcess(t, STAYS, {[MARK]: own}));
	signalTree(one?.pid ?? 0, mark, 'SIGTERM');
	await until(() => !isRunning(one?.pid ?? 0) && !isRunning(other?.pid ?? 0));
	t.true(isRunning(stranger?.pid ?? 0));
});

test.serial(
	'does not take a program for one that is just being started because it has no environment',
	async t => {
		const started = spawn('env', ['-i', process.execPath, '-e', `${READY} ${STAYS}`], {
			stdio: ['ignore', 'pipe', 'ignore'],
		});
		t.teardown(() => started.kill('SIGKILL'));
		await once(started.stdout, 'data');
		const now = ticks();
		// Others may be about to start or to end; this one stays.
		await until(() => lookForTree(-1, newMark(), now) === 'gone');
		t.true(isRunning(started.pid ?? 0));
	},
);

test.serial('signals the group, though nobody in it has the mark', async t => {
	const source = `const {spawn} = require('node:child_process');
		const {pid} = spawn(process.execPath, ['-e', ${JSON.stringify(STAYS)}], {stdio: 'ignore', env: {}}); process.stdout.write(pid + '\\n'); ${STAYS}`;
	const leader = startProcess(t, source);
	const [chunk] = await once(leader.stdout ?? process.stdin, 'data');
	signalTree(leader.pid ?? 0, newMark(), 'SIGKILL');
	await until(() => !isRunning(Number(chunk)));
	t.pass();
});

test.serial('names what a bridge left behind that is no more', t => {
	const {pid = 0} = startProcess(t, STAYS, {[MARK]: deadMark()});
	t.true(orphans().includes(pid));
});

test.serial('takes nobody for left behind whose bridge lives', t => {
	const {pid = 0} = startProcess(t, STAYS, {[MARK]: newMark()});
	t.false(orphans().includes(pid));
});

test.serial('takes nobody for left behind that another container started', t => {
	const {pid = 0} = startProcess(t, STAYS, {[MARK]: deadMark().replace(/^\d+/, '1')});
	t.false(orphans().includes(pid));
});

test.serial('takes a later process with the number of a dead bridge for another', t => {
	const stale = newMark().replace(/:\d+:(?=\w+$)/, ':never:');
	const {pid = 0} = startProcess(t, STAYS, {[MARK]: stale});
	t.true(orphans().includes(pid));
});

test.serial('says whether there was somebody to signal', async t => {
	const started = startProcess(t, `${READY} ${STAYS}`);
	t.true(send(started.pid ?? 0, 0));
	started.kill('SIGKILL');
	await once(started, 'exit');
	t.false(send(started.pid ?? 0, 0));
});
