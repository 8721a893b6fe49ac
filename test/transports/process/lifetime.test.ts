import {spawn} from 'node:child_process';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {ChildLifetime} from '../../../lib/transports/process/lifetime.js';
import {createMark, MARK_VARIABLE} from '../../../lib/util/process-tree.js';
import {until} from '../../helpers/pipeline.js';
import {DEAF, isRunning, program, READY, STAYS} from './programs.js';

/** A process and its life, once it runs. */
const start = async (t: ExecutionContext, source: string) => {
	const mark = createMark();
	const {command, args} = program(source);
	const server = spawn(command, args, {
		detached: true,
		stdio: ['pipe', 'pipe', 'ignore'],
		env: {...process.env, [MARK_VARIABLE]: mark},
	});
	const life = new ChildLifetime(server, mark);
	t.teardown(() => life.kill());
	let said = '';
	server.stdout.on('data', chunk => {
		said += chunk;
	});
	await until(() => said !== '');
	return {life, server, said};
};

test.serial('leaves a child alone that ends in time', async t => {
	const {life, server} = await start(t, `${READY} process.stdin.resume().on('end', () => process.exit(7))`);
	server.stdin.end();
	await life.end(10_000);
	t.deepEqual(await life.exited, {code: 7, signal: null, cause: 'itself'});
});

test.serial('asks first, and then insists', async t => {
	const {life} = await start(t, `${DEAF} ${READY} ${STAYS}`);
	await life.end(50);
	t.deepEqual(await life.exited, {code: null, signal: 'SIGKILL', cause: 'asked'});
});

test.serial('gives a child that closed a pipe a moment to end by itself', async t => {
	const {life} = await start(t, `${READY} setTimeout(() => process.exit(4), 50)`);
	await life.onHalfClosed();
	t.deepEqual(await life.exited, {code: 4, signal: null, cause: 'itself'});
});

test.serial('ends a child that closed a pipe and stays, however deaf', async t => {
	const {life} = await start(t, `${DEAF} ${READY} ${STAYS}`);
	await life.onHalfClosed();
	t.deepEqual(await life.exited, {code: null, signal: 'SIGKILL', cause: 'half-closed'});
});

test.serial('is over when what the child left behind is over', async t => {
	const source = `const {spawn} = require('node:child_process');
		const {pid} = spawn(process.execPath, ['-e', ${JSON.stringify(`${DEAF} ${STAYS}`)}], {stdio: 'ignore', detached: true});
		process.stdout.write(pid + '\\n', () => process.exit(0));`;
	const {life, said} = await start(t, source);
	t.deepEqual(await life.exited, {code: 0, signal: null, cause: 'itself'});
	t.false(isRunning(Number(said)));
});

test.serial('fails where nothing could be started', async t => {
	const server = spawn('/no-such-program-here', [], {stdio: 'ignore'});
	const life = new ChildLifetime(server, createMark());
	await t.throwsAsync(life.exited, {code: 'ENOENT'});
	await life.end(10);
	life.kill();
});
