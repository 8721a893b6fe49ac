import {spawn} from 'node:child_process';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {ChildLifetime} from '../../../lib/transports/process/lifetime.js';
import {createMark, MARK_VARIABLE} from '../../../lib/util/process-tree.js';
import {until} from '../../helpers/pipeline.js';
import {IGNORES_SIGTERM, isRunning, program, READY, STAYS} from './programs.js';

/** Starts a process and its supervision. Resolves after its first output. */
const start = async (t: ExecutionContext, source: string) => {
	const mark = createMark();
	const {command, args} = program(source);
	const server = spawn(command, args, {
		detached: true,
		stdio: ['pipe', 'pipe', 'ignore'],
		env: {...process.env, [MARK_VARIABLE]: mark},
	});
	const lifetime = new ChildLifetime(server, mark);
	t.teardown(() => lifetime.kill());
	let output = '';
	server.stdout.on('data', chunk => {
		output += chunk;
	});
	await until(() => output !== '');
	return {lifetime, server, output};
};

test.serial('does not signal a child that exits in time', async t => {
	const {lifetime, server} = await start(
		t,
		`${READY} process.stdin.resume().on('end', () => process.exit(7))`,
	);
	server.stdin.end();
	await lifetime.end(10_000);
	t.deepEqual(await lifetime.exited, {code: 7, signal: null, cause: 'itself'});
});

test.serial('sends SIGTERM first, then SIGKILL', async t => {
	const {lifetime} = await start(t, `${IGNORES_SIGTERM} ${READY} ${STAYS}`);
	await lifetime.end(50);
	t.deepEqual(await lifetime.exited, {code: null, signal: 'SIGKILL', cause: 'requested'});
});

test.serial('lets a child that closed a pipe exit by itself for a short time', async t => {
	const {lifetime} = await start(t, `${READY} setTimeout(() => process.exit(4), 50)`);
	await lifetime.onHalfClosed();
	t.deepEqual(await lifetime.exited, {code: 4, signal: null, cause: 'itself'});
});

test.serial('kills a child that closed a pipe and ignores SIGTERM', async t => {
	const {lifetime} = await start(t, `${IGNORES_SIGTERM} ${READY} ${STAYS}`);
	await lifetime.onHalfClosed();
	t.deepEqual(await lifetime.exited, {code: null, signal: 'SIGKILL', cause: 'half-closed'});
});

test.serial('resolves the exit after descendants have exited', async t => {
	const source = `const {spawn} = require('node:child_process');
		const {pid} = spawn(process.execPath, ['-e', ${JSON.stringify(`${IGNORES_SIGTERM} ${STAYS}`)}], {stdio: 'ignore', detached: true});
		process.stdout.write(pid + '\\n', () => process.exit(0));`;
	const {lifetime, output} = await start(t, source);
	t.deepEqual(await lifetime.exited, {code: 0, signal: null, cause: 'itself'});
	t.false(isRunning(Number(output)));
});

test.serial('rejects when the program could not be started', async t => {
	const server = spawn('/no-such-program-here', [], {stdio: 'ignore'});
	const lifetime = new ChildLifetime(server, createMark());
	await t.throwsAsync(lifetime.exited, {code: 'ENOENT'});
	await lifetime.end(10);
	lifetime.kill();
});
