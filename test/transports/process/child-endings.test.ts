import process from 'node:process';
import test from 'ava';
import {Envelope} from '../../../lib/core/envelope.js';
import {until} from '../../helpers/pipeline.js';
import {IGNORES_SIGTERM, isRunning, listen, READY, STAYS, startChild} from './programs.js';

const node = JSON.stringify(process.execPath);

/** The source of a program that starts another one, prints the process id of it, and keeps running. */
const parentOf = (source: string, options: string): string =>
	`const {spawn} = require("node:child_process");
	const started = spawn(${node}, ["-e", ${JSON.stringify(source)}], ${options});
	process.stdout.write(started.pid + "\\n"); ${STAYS}`;

test.serial('terminates a child that does not exit when its input ends', async t => {
	const started = startChild(t, `${READY} ${STAYS}`, {graceMs: 50});
	const output = listen(started);
	await until(() => output.texts.length > 0);
	await started.close();
	t.deepEqual(await started.exited, {code: null, signal: 'SIGTERM', cause: 'requested'});
	t.is(await output.ended, undefined);
});

test.serial('kills a child that ignores SIGTERM', async t => {
	const started = startChild(t, `${IGNORES_SIGTERM} ${READY} ${STAYS}`, {graceMs: 50});
	const output = listen(started);
	await until(() => output.texts.length > 0);
	await started.close();
	t.deepEqual(await started.exited, {code: null, signal: 'SIGKILL', cause: 'requested'});
});

test.serial('kills a child immediately on kill', async t => {
	const started = startChild(t, `${IGNORES_SIGTERM} ${READY} ${STAYS}`);
	const output = listen(started);
	await until(() => output.texts.length > 0);
	started.kill();
	t.deepEqual(await started.exited, {code: null, signal: 'SIGKILL', cause: 'requested'});
});

for (const [what, options] of [
	['a grandchild', '{stdio: "ignore"}'],
	['a grandchild in another process group', '{stdio: "ignore", detached: true}'],
	['a grandchild that holds the output of the child open', '{stdio: "inherit"}'],
] as const) {
	test.serial(`terminates ${what} together with the child`, async t => {
		const started = startChild(t, parentOf(`${IGNORES_SIGTERM} ${STAYS}`, options), {graceMs: 50});
		const output = listen(started);
		await until(() => output.texts.length > 0);
		const grandchild = Number(output.texts[0]);
		t.true(isRunning(grandchild));
		await started.close();
		t.false(isRunning(grandchild));
	});

	test.serial(`terminates ${what} after the child has exited by itself`, async t => {
		const source = parentOf(`${IGNORES_SIGTERM} ${STAYS}`, options);
		const started = startChild(t, `${source} setTimeout(() => process.exit(3), 50)`);
		const output = listen(started);
		t.like(await output.ended, {code: 'ERR_CHILD_EXITED', details: {exitCode: 3}});
		t.false(isRunning(Number(output.texts[0])));
	});
}

test.serial('terminates a child that closes its output and keeps running', async t => {
	const started = startChild(t, `${STAYS} require("node:fs").closeSync(1)`);
	const error = await listen(started).ended;
	t.like(error, {code: 'ERR_CHILD_EXITED'});
	t.regex(error?.message ?? '', /closed a pipe/);
	t.like(await started.exited, {cause: 'half-closed'});
});

test.serial('terminates a child that closes its input and keeps running', async t => {
	const started = startChild(t, `require("node:fs").closeSync(0); ${READY} ${STAYS}`);
	const output = listen(started);
	await until(() => output.texts.length > 0);
	started.outgoing.next(Envelope.of({id: 1}));
	started.outgoing.next(Envelope.of({id: 2}));
	t.like(await output.ended, {code: 'ERR_CHILD_EXITED'});
	t.like(await started.exited, {cause: 'half-closed'});
});

test.serial('ends in time although an unrelated process holds its output open', async t => {
	const source = `const {spawn} = require("node:child_process");
		const stranger = spawn(${node}, ["-e", ${JSON.stringify(STAYS)}], {stdio: ["ignore", "inherit", "ignore"], detached: true, env: {}});
		process.stdout.write(stranger.pid + "\\n", () => process.exit(3));`;
	const started = startChild(t, source);
	const output = listen(started);
	t.like(await output.ended, {code: 'ERR_CHILD_EXITED', details: {exitCode: 3}});
	const stranger = Number(output.texts[0]);
	t.teardown(() => process.kill(stranger, 'SIGKILL'));
	t.true(isRunning(stranger));
});

test.serial('ignores close and kill after the exit', async t => {
	const started = startChild(t, READY);
	await listen(started).ended;
	await started.exited;
	await started.close();
	started.kill();
	started.outgoing.next(Envelope.of({id: 1}));
	t.like(await started.exited, {code: 0, cause: 'itself'});
});

test.serial('resolves disconnected after the exit', async t => {
	const started = startChild(t, READY);
	listen(started);
	await started.disconnected;
	t.pass();
});

test.serial('closes a child whose output is under backpressure', async t => {
	const flood =
		'setInterval(() => process.stdout.write(`{"jsonrpc":"2.0","method":"a"}\\n`.repeat(5000)), 1);';
	const started = startChild(t, `${flood} ${STAYS}`, {graceMs: 50});
	let release: (() => void) | undefined;
	started.incoming.subscribe({next: ({origin}) => (release ??= origin.valve.shut()), error: () => {}});
	await until(() => release !== undefined);
	// Keeps this process alive, as a connected client does.
	const alive = setInterval(() => {}, 1000);
	t.teardown(() => clearInterval(alive));
	await started.close();
	t.like(await started.exited, {cause: 'requested'});
});
