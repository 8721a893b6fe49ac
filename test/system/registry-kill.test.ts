import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import test, {type ExecutionContext} from 'ava';
import split2 from 'split2';
import {sessionEntry} from '../../fixtures/sessions/entry.js';
import {tempFolder} from '../helpers/temp-folder.js';
import {onDisk, openRegistry, startSaver} from '../serve/sessions/support.js';
import {need} from './tools.js';

const stepwise = fileURLToPath(new URL('../../fixtures/sessions/stepwise.js', import.meta.url));

/** The file system calls of a save. Calls that do not exist on this architecture never match. */
const CALLS = [
	'openat',
	'close',
	'write',
	'pwrite64',
	'fsync',
	'fdatasync',
	'rename',
	'unlink',
	'mkdir',
	'statx',
	'newfstatat',
	'getdents64',
	'read',
	'pread64',
	'fchmod',
];

type Stepwise = {
	readonly child: ChildProcess;
	readonly output: string[];
	next(): Promise<string | undefined>;
};

/** Starts the program with a single thread for file calls, so that strace can attach to that thread. */
async function start(t: ExecutionContext, folder: string): Promise<Stepwise> {
	const env = {...process.env, UV_THREADPOOL_SIZE: '1'};
	const child = spawn(process.execPath, [stepwise, folder], {stdio: ['pipe', 'pipe', 'ignore'], env});
	t.teardown(() => child.kill('SIGKILL'));
	child.stdin?.on('error', () => {});
	const lines = (child.stdout as NonNullable<typeof child.stdout>).pipe(split2())[Symbol.asyncIterator]();
	const output: string[] = [];
	const next = async (): Promise<string | undefined> => {
		const {value} = await lines.next();
		if (value !== undefined) output.push(value);
		return value;
	};
	await next();
	return {child, output, next};
}

/** Returns the thread that makes the file calls: the non-main thread that has written the most bytes. */
function workerOf(pid: number): string {
	const written = (thread: string): number =>
		Number(/wchar: (\d+)/.exec(readFileSync(`/proc/${pid}/task/${thread}/io`, 'latin1'))?.[1]);
	const others = readdirSync(`/proc/${pid}/task`).filter(thread => thread !== `${pid}`);
	const [worker] = others.sort((one, other) => written(other) - written(one));
	if (worker === undefined || written(worker) === 0) throw new Error('No thread has written to a file.');
	return worker;
}

/**
 * Attaches strace to inject faults into the file calls of a running process. Resolves when it is attached.
 */
async function attach(
	t: ExecutionContext,
	{child}: Stepwise,
	trace: string,
	inject: string,
): Promise<ChildProcess> {
	const args = ['-p', workerOf(child.pid ?? 0), '-o', trace, '-e', `trace=${CALLS.join()}`, '-e', inject];
	const strace = spawn('strace', args, {stdio: ['ignore', 'ignore', 'pipe']});
	t.teardown(() => strace.kill('SIGKILL'));
	await once(strace.stderr as NonNullable<typeof strace.stderr>, 'data');
	return strace;
}

const idsIn = (folder: string): unknown[] => onDisk(folder).sessions.map(({codex_id}) => codex_id);

/** Saves a second session with a kill at the nth system call. Returns whether the process was killed. */
async function killedAt(t: ExecutionContext, call: string, at: number): Promise<boolean> {
	const place = `${call} ${at}`;
	const folder = join(tempFolder(t), 'red');
	const process = await start(t, folder);
	process.child.stdin?.write('codex:first\n');
	t.is(await process.next(), 'saved codex:first');
	await attach(t, process, `${folder}.trace`, `inject=${call}:signal=SIGKILL:when=${at}`);
	const exited = once(process.child, 'exit');
	process.child.stdin?.end('codex:second\n');
	while ((await process.next()) !== undefined);
	const [, signal] = await exited;
	const sessions = idsIn(folder);
	t.true(sessions.includes('codex:first'), place);
	if (process.output.includes('saved codex:second')) t.true(sessions.includes('codex:second'), place);
	t.true(sessions.length <= 2, place);
	// The next process finds no obstacle.
	const next = await openRegistry(t, folder);
	await next.put(sessionEntry({codex_id: 'codex:third', status: 'closed'}));
	t.deepEqual(idsIn(folder), [...sessions, 'codex:third'], place);
	await next.close();
	t.deepEqual(
		readdirSync(folder).filter(name => name.endsWith('.tmp')),
		[],
		place,
	);
	t.deepEqual(readdirSync(join(folder, '.lock')), [], place);
	return signal === 'SIGKILL';
}

test.serial(
	'kill -9 at any system call of a save leaves the old or the new file, with all acknowledged changes [G1] [FR-5.5] [NFR-2]',
	async t => {
		need('strace');
		t.timeout(600_000);
		const points = new Map<string, number>();
		for (const call of CALLS) {
			let at = 1;
			while (at < 100 && (await killedAt(t, call, at))) at++;
			points.set(call, at - 1);
		}
		t.log(Object.fromEntries(points));
		for (const call of ['openat', 'write', 'fsync', 'rename', 'unlink', 'close'])
			t.true((points.get(call) ?? 0) > 0, `${call} was never called`);
		t.is(points.get('fsync'), 2, 'one of the file and one of the folder');
	},
);

for (const [call, error, code] of [
	['fsync', 'EIO', 'EIO'],
	['rename', 'EIO', 'EIO'],
	['openat', 'EDQUOT', '-122'],
	['unlink', 'EIO', undefined],
] as const)
	test.serial(
		`${code === undefined ? 'ignores' : 'reports'} ${error} of ${call}, keeps a valid file, and later saves succeed [G2]`,
		async t => {
			need('strace');
			const folder = join(tempFolder(t), 'red');
			const process = await start(t, folder);
			process.child.stdin?.write('codex:first\n');
			t.is(await process.next(), 'saved codex:first');
			const strace = await attach(t, process, `${folder}.trace`, `inject=${call}:error=${error}:when=2+`);
			process.child.stdin?.write('codex:second\ncodex:third\n');
			const outcomes = [await process.next(), await process.next()];
			if (code === undefined) t.deepEqual(outcomes, ['saved codex:second', 'saved codex:third']);
			else
				t.true(
					outcomes.every(text => text?.includes(`${code}, degraded`)),
					`${outcomes}`,
				);
			t.true(idsIn(folder).includes('codex:first'));
			strace.kill('SIGINT');
			await once(strace, 'exit');
			process.child.stdin?.end('codex:last\n');
			while ((await process.next()) !== undefined);
			t.true(process.output.includes('saved codex:last'), `${process.output}`);
			t.is(idsIn(folder).length, 4, 'a failed change is saved with the next one');
		},
	);

test.serial(
	'keeps all acknowledged changes when one of two saving processes is killed at random (5.3) [G1]',
	async t => {
		for (let round = 0; round < 12; round++) {
			const folder = join(tempFolder(t), 'red');
			const [victim, other] = [startSaver(t, folder, 'a', '100000'), startSaver(t, folder, 'b', '20')];
			const printed: string[] = [];
			const listen = async ({next}: typeof victim): Promise<void> => {
				while (printed.at(-1) !== 'undefined') printed.push(await next());
			};
			const ended = [listen(victim), listen(other)];
			while (printed.filter(line => line.startsWith('saved codex:a')).length < round)
				await new Promise(setImmediate);
			victim.child.kill('SIGKILL');
			await Promise.all(ended);
			const ids = new Set(idsIn(folder));
			const acknowledged = printed.filter(line => line.startsWith('saved ')).map(line => line.slice(6));
			t.true(acknowledged.filter(id => id.startsWith('codex:b')).length === 20);
			for (const id of acknowledged) t.true(ids.has(id), `${id} of round ${round}`);
		}
	},
);
