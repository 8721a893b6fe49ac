import {spawn} from 'node:child_process';
import {once} from 'node:events';
import process from 'node:process';
import {Worker} from 'node:worker_threads';
import test, {type ExecutionContext} from 'ava';
import {
	createMark,
	findOrphans,
	isTreeAlive,
	MARK_VARIABLE,
	sendSignal,
	signalTree,
	treeState,
	uptimeTicks,
} from '../../lib/util/process-tree.js';
import {until} from '../helpers/pipeline.js';
import {isRunning, READY, STAYS, startProcess} from '../transports/process/programs.js';

const url = new URL('../../lib/util/process-tree.js', import.meta.url);

/** The mark of a bridge that is no more: this namespace, but no process started when it says. */
const deadMark = (): string => createMark().replace(/:\d+:\d+:(?=\w+$)/, ':1:never:');

/** Starts a process with this mark that stays. Before it is ready, it may have no environment yet to be known by. */
async function startMarked(t: ExecutionContext, mark: string): Promise<number> {
	const started = startProcess(t, `${READY} ${STAYS}`, {[MARK_VARIABLE]: mark});
	await Promise.race([once(started.stdout ?? process.stdin, 'data'), once(started, 'exit')]);
	return started.pid ?? 0;
}

/** Whether who has this mark is taken for left behind. If so, any bridge of another test may end it before it is seen. */
async function isLeftBehind(t: ExecutionContext, mark: string): Promise<boolean> {
	for (;;) {
		const pid = await startMarked(t, mark);
		if (findOrphans().includes(pid)) return true;
		await until(() => !isRunning(pid));
	}
}

test.serial('marks each child with a mark of its own', t => {
	t.is(new Set([createMark(), createMark(), createMark()]).size, 3);
});

test.serial('gives children of two threads two marks', async t => {
	const source = `import('${url}').then(({createMark}) => require('node:worker_threads').parentPort.postMessage(createMark()))`;
	const marks = [new Worker(source, {eval: true}), new Worker(source, {eval: true})].map(async worker => {
		const [mark] = await once(worker, 'message');
		return mark as string;
	});
	const [one, other] = await Promise.all(marks);
	t.not(one, other);
});

test.serial('knows a marked process, until it has ended', async t => {
	const mark = createMark();
	const pid = await startMarked(t, mark);
	t.true(isTreeAlive(pid, mark));
	process.kill(pid, 'SIGKILL');
	await until(() => !isTreeAlive(pid, mark));
	t.false(isRunning(pid));
});

test.serial('signals all that has the mark, whoever started it, and nobody else', async t => {
	const mark = createMark();
	const started = [mark, mark, createMark()].map(own => startMarked(t, own));
	const [one = 0, other = 0, stranger = 0] = await Promise.all(started);
	signalTree(one, mark, 'SIGTERM');
	await until(() => !isRunning(one) && !isRunning(other));
	t.true(isRunning(stranger));
});

test.serial(
	'does not take a program for one that is just being started because it has no environment',
	async t => {
		const started = spawn('env', ['-i', process.execPath, '-e', `${READY} ${STAYS}`], {
			stdio: ['ignore', 'pipe', 'ignore'],
		});
		t.teardown(() => started.kill('SIGKILL'));
		await once(started.stdout, 'data');
		const now = uptimeTicks();
		// Others may be about to start or to end; this one stays.
		await until(() => treeState(-1, createMark(), now) === 'gone');
		t.true(isRunning(started.pid ?? 0));
	},
);

test.serial('signals the group, though nobody in it has the mark', async t => {
	const source = `const {spawn} = require('node:child_process');
		const {pid} = spawn(process.execPath, ['-e', ${JSON.stringify(STAYS)}], {stdio: 'ignore', env: {}}); process.stdout.write(pid + '\\n'); ${STAYS}`;
	const leader = startProcess(t, source);
	const [chunk] = await once(leader.stdout ?? process.stdin, 'data');
	signalTree(leader.pid ?? 0, createMark(), 'SIGKILL');
	await until(() => !isRunning(Number(chunk)));
	t.pass();
});

test.serial('names what a bridge left behind that is no more', async t => {
	t.true(await isLeftBehind(t, deadMark()));
});

test.serial('takes nobody for left behind whose bridge lives', async t => {
	const pid = await startMarked(t, createMark());
	t.false(findOrphans().includes(pid));
});

test.serial('takes nobody for left behind that another container started', async t => {
	const pid = await startMarked(t, deadMark().replace(/^\d+/, '1'));
	t.false(findOrphans().includes(pid));
});

test.serial('takes a later process with the number of a dead bridge for another', async t => {
	t.true(await isLeftBehind(t, createMark().replace(/:\d+:(?=\w+$)/, ':never:')));
});

test.serial('says whether there was somebody to signal', async t => {
	const started = startProcess(t, `${READY} ${STAYS}`);
	t.true(sendSignal(started.pid ?? 0, 0));
	started.kill('SIGKILL');
	await once(started, 'exit');
	t.false(sendSignal(started.pid ?? 0, 0));
});
