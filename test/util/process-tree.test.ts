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

/** A mark with a process id whose start time does not match, as of a dead bridge. */
const deadMark = (): string => createMark().replace(/:\d+:\d+:(?=\w+$)/, ':1:never:');

/** Starts a long-running process with this mark. Its environment may not be readable before it is ready. */
async function startMarked(t: ExecutionContext, mark: string): Promise<number> {
	const started = startProcess(t, `${READY} ${STAYS}`, {[MARK_VARIABLE]: mark});
	await Promise.race([once(started.stdout ?? process.stdin, 'data'), once(started, 'exit')]);
	return started.pid ?? 0;
}

/**
 * Whether a process with this mark is found as an orphan. A bridge of another test may kill it before it is
 * found.
 */
async function isFoundAsOrphan(t: ExecutionContext, mark: string): Promise<boolean> {
	for (;;) {
		const pid = await startMarked(t, mark);
		if (findOrphans().includes(pid)) return true;
		await until(() => !isRunning(pid));
	}
}

test.serial('creates a unique mark for each child', t => {
	t.is(new Set([createMark(), createMark(), createMark()]).size, 3);
});

test.serial('creates unique marks in different threads', async t => {
	const source = `import('${url}').then(({createMark}) => require('node:worker_threads').parentPort.postMessage(createMark()))`;
	const marks = [new Worker(source, {eval: true}), new Worker(source, {eval: true})].map(async worker => {
		const [mark] = await once(worker, 'message');
		return mark as string;
	});
	const [one, other] = await Promise.all(marks);
	t.not(one, other);
});

test.serial('finds a marked process until it has exited', async t => {
	const mark = createMark();
	const pid = await startMarked(t, mark);
	t.true(isTreeAlive(pid, mark));
	process.kill(pid, 'SIGKILL');
	await until(() => !isTreeAlive(pid, mark));
	t.false(isRunning(pid));
});

test.serial('signals all processes with the mark and no others', async t => {
	const mark = createMark();
	const started = [mark, mark, createMark()].map(own => startMarked(t, own));
	const [one = 0, other = 0, stranger = 0] = await Promise.all(started);
	signalTree(one, mark, 'SIGTERM');
	await until(() => !isRunning(one) && !isRunning(other));
	t.true(isRunning(stranger));
});

test.serial('does not mistake a process without an environment for one that is starting', async t => {
	const started = spawn('env', ['-i', process.execPath, '-e', `${READY} ${STAYS}`], {
		stdio: ['ignore', 'pipe', 'ignore'],
	});
	t.teardown(() => started.kill('SIGKILL'));
	await once(started.stdout, 'data');
	const now = uptimeTicks();
	// Other processes may be starting or exiting. This one keeps running.
	await until(() => treeState(-1, createMark(), now) === 'gone');
	t.true(isRunning(started.pid ?? 0));
});

test.serial('signals the process group even without the mark', async t => {
	const source = `const {spawn} = require('node:child_process');
		const {pid} = spawn(process.execPath, ['-e', ${JSON.stringify(STAYS)}], {stdio: 'ignore', env: {}}); process.stdout.write(pid + '\\n'); ${STAYS}`;
	const leader = startProcess(t, source);
	const [chunk] = await once(leader.stdout ?? process.stdin, 'data');
	signalTree(leader.pid ?? 0, createMark(), 'SIGKILL');
	await until(() => !isRunning(Number(chunk)));
	t.pass();
});

test.serial('finds orphans of a dead bridge', async t => {
	t.true(await isFoundAsOrphan(t, deadMark()));
});

test.serial('does not report children of a live bridge as orphans', async t => {
	const pid = await startMarked(t, createMark());
	t.false(findOrphans().includes(pid));
});

test.serial('does not report processes of another PID namespace as orphans', async t => {
	const pid = await startMarked(t, deadMark().replace(/^\d+/, '1'));
	t.false(findOrphans().includes(pid));
});

test.serial('does not mistake a later process with the same pid for the dead bridge', async t => {
	t.true(await isFoundAsOrphan(t, createMark().replace(/:\d+:(?=\w+$)/, ':never:')));
});

test.serial('returns whether the signaled process exists', async t => {
	const started = startProcess(t, `${READY} ${STAYS}`);
	t.true(sendSignal(started.pid ?? 0, 0));
	started.kill('SIGKILL');
	await once(started, 'exit');
	t.false(sendSignal(started.pid ?? 0, 0));
});
