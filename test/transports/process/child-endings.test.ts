import process from 'node:process';
import test from 'ava';
import {Envelope} from '../../../lib/core/envelope.js';
import {until} from '../../helpers/pipeline.js';
import {DEAF, isRunning, listen, READY, STAYS, startChild} from './programs.js';

const node = JSON.stringify(process.execPath);

/** Starts another program, says its number, and stays. */
const parentOf = (source: string, options: string): string =>
	`const {spawn} = require("node:child_process");
	const started = spawn(${node}, ["-e", ${JSON.stringify(source)}], ${options});
	process.stdout.write(started.pid + "\\n"); ${STAYS}`;

test.serial('asks a child to end that does not when its input does', async t => {
	const started = startChild(t, `${READY} ${STAYS}`, {graceMs: 50});
	const heard = listen(started);
	await until(() => heard.texts.length > 0);
	await started.close();
	t.deepEqual(await started.exited, {code: null, signal: 'SIGTERM', cause: 'asked'});
	t.is(await heard.ended, undefined);
});

test.serial('makes a child end that is deaf to that, too', async t => {
	const started = startChild(t, `${DEAF} ${READY} ${STAYS}`, {graceMs: 50});
	const heard = listen(started);
	await until(() => heard.texts.length > 0);
	await started.close();
	t.deepEqual(await started.exited, {code: null, signal: 'SIGKILL', cause: 'asked'});
});

test.serial('ends a child at once when it is told to', async t => {
	const started = startChild(t, `${DEAF} ${READY} ${STAYS}`);
	const heard = listen(started);
	await until(() => heard.texts.length > 0);
	started.kill();
	t.deepEqual(await started.exited, {code: null, signal: 'SIGKILL', cause: 'asked'});
});

for (const [what, options] of [
	['a program that a child started', '{stdio: "ignore"}'],
	['a program that left the group of its parent', '{stdio: "ignore", detached: true}'],
	['a program that holds the output of its parent', '{stdio: "inherit"}'],
] as const) {
	test.serial(`ends ${what} together with it`, async t => {
		const started = startChild(t, parentOf(`${DEAF} ${STAYS}`, options), {graceMs: 50});
		const heard = listen(started);
		await until(() => heard.texts.length > 0);
		const grandchild = Number(heard.texts[0]);
		t.true(isRunning(grandchild));
		await started.close();
		t.false(isRunning(grandchild));
	});

	test.serial(`ends ${what}, when the child died by itself`, async t => {
		const source = parentOf(`${DEAF} ${STAYS}`, options);
		const started = startChild(t, `${source} setTimeout(() => process.exit(3), 50)`);
		const heard = listen(started);
		t.like(await heard.ended, {code: 'ERR_CHILD_EXITED', details: {exitCode: 3}});
		t.false(isRunning(Number(heard.texts[0])));
	});
}

test.serial('takes a child for dead that closed its output and lives on', async t => {
	const started = startChild(t, `${STAYS} require("node:fs").closeSync(1)`);
	const error = await listen(started).ended;
	t.like(error, {code: 'ERR_CHILD_EXITED'});
	t.regex(error?.message ?? '', /closed a pipe/);
	t.like(await started.exited, {cause: 'half-closed'});
});

test.serial('takes a child for dead that closed its input and lives on', async t => {
	const started = startChild(t, `require("node:fs").closeSync(0); ${READY} ${STAYS}`);
	const heard = listen(started);
	await until(() => heard.texts.length > 0);
	started.outgoing.next(Envelope.of({id: 1}));
	started.outgoing.next(Envelope.of({id: 2}));
	t.like(await heard.ended, {code: 'ERR_CHILD_EXITED'});
	t.like(await started.exited, {cause: 'half-closed'});
});

test.serial('ends in time though a stranger holds its output open', async t => {
	const source = `const {spawn} = require("node:child_process");
		const stranger = spawn(${node}, ["-e", ${JSON.stringify(STAYS)}], {stdio: ["ignore", "inherit", "ignore"], detached: true, env: {}});
		process.stdout.write(stranger.pid + "\\n", () => process.exit(3));`;
	const started = startChild(t, source);
	const heard = listen(started);
	t.like(await heard.ended, {code: 'ERR_CHILD_EXITED', details: {exitCode: 3}});
	const stranger = Number(heard.texts[0]);
	t.teardown(() => process.kill(stranger, 'SIGKILL'));
	t.true(isRunning(stranger));
});

test.serial('does no harm when it is told to end after its end', async t => {
	const started = startChild(t, READY);
	await listen(started).ended;
	await started.exited;
	await started.close();
	started.kill();
	started.outgoing.next(Envelope.of({id: 1}));
	t.like(await started.exited, {code: 0, cause: 'itself'});
});

test.serial('is gone once all is over', async t => {
	const started = startChild(t, READY);
	listen(started);
	await started.disconnected;
	t.pass();
});

test.serial('ends a child whose last words nobody takes', async t => {
	const flood =
		'setInterval(() => process.stdout.write(`{"jsonrpc":"2.0","method":"a"}\\n`.repeat(5000)), 1);';
	const started = startChild(t, `${flood} ${STAYS}`, {graceMs: 50});
	let release: (() => void) | undefined;
	started.incoming.subscribe({next: ({origin}) => (release ??= origin.valve.shut()), error: () => {}});
	await until(() => release !== undefined);
	// As whoever does not read keeps a process alive.
	const alive = setInterval(() => {}, 1000);
	t.teardown(() => clearInterval(alive));
	await started.close();
	t.like(await started.exited, {cause: 'asked'});
});
