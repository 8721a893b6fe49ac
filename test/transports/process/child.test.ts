import {chmodSync, mkdirSync, writeFileSync} from 'node:fs';
import {delimiter, join} from 'node:path';
import process from 'node:process';
import test from 'ava';
import {Envelope, type MessageOrigin} from '../../../lib/core/envelope.js';
import {BridgeError} from '../../../lib/core/errors.js';
import {Valve} from '../../../lib/core/valve.js';
import {until} from '../../helpers/pipeline.js';
import {tempFolder} from '../../helpers/temp-folder.js';
import {listen, READY, STAYS, startChild} from './programs.js';

const ECHO = 'process.stdin.pipe(process.stdout);';

test.serial('sends messages to a child and receives its messages', async t => {
	const echo = startChild(t, ECHO);
	const output = listen(echo);
	echo.outgoing.next(Envelope.of({id: 1, text: 'grüß dich'}));
	echo.outgoing.next(Envelope.of({id: 2}));
	await until(() => output.texts.length === 2);
	t.deepEqual(output.texts, ['{"id":1,"text":"grüß dich"}', '{"id":2}']);
});

test.serial('sets the name of the child as the origin of its messages', async t => {
	const names: string[] = [];
	const output = listen(startChild(t, READY), ({origin}) => names.push(origin.name));
	await output.ended;
	t.deepEqual(names, ['files']);
});

test.serial('passes arguments unchanged, without a shell', async t => {
	const args = ['; touch x', '$HOME', '`id`', '*', '-x', '', 'a b"c'];
	const source = 'process.stdout.write(JSON.stringify(process.argv.slice(1)) + "\\n")';
	const output = listen(startChild(t, {command: process.execPath, args: ['-e', source, '--', ...args]}));
	await output.ended;
	t.deepEqual(JSON.parse(output.texts[0] ?? ''), args);
});

test.serial('passes only allowed and configured environment variables', async t => {
	process.env.SOME_API_KEY = 'hunter2';
	process.env.NODE_OPTIONS = '';
	const source = 'process.stdout.write(JSON.stringify(process.env) + "\\n")';
	const output = listen(startChild(t, source, {env: {CONFIGURED: 'yes', HOME: '/elsewhere'}}));
	await output.ended;
	const env = JSON.parse(output.texts[0] ?? '');
	t.like(env, {CONFIGURED: 'yes', HOME: '/elsewhere', PATH: process.env.PATH});
	t.is(env.SOME_API_KEY, undefined);
	t.is(env.NODE_OPTIONS, undefined);
});

test.serial('forwards stderr unchanged', async t => {
	const chunks: Buffer[] = [];
	const source =
		'process.stderr.write("one\\n"); process.stderr.write(Buffer.of(0xff, 10)); process.exitCode = 1';
	const started = startChild(t, source, {onStderr: chunk => void chunks.push(chunk)});
	await listen(started).ended;
	await until(() => Buffer.concat(chunks).length === 6);
	t.deepEqual(Buffer.concat(chunks), Buffer.from('one\n\xff\n', 'latin1'));
});

test.serial('completes without an error on close, and reports the exit code', async t => {
	const started = startChild(t, `${READY} process.stdin.resume().on("end", () => process.exit(3))`);
	const output = listen(started);
	await until(() => output.texts.length > 0);
	await started.close();
	t.deepEqual(await started.exited, {code: 3, signal: null, cause: 'itself'});
});

test.serial('fails with the exit code and the end of stderr after a crash', async t => {
	const source = 'process.stderr.write("x".repeat(5000) + "disk on fire\\n"); process.exitCode = 3;';
	const started = startChild(t, source);
	const error = await listen(started).ended;
	t.true(error instanceof BridgeError);
	t.like(error, {code: 'ERR_CHILD_EXITED', details: {exitCode: 3, signal: null}});
	t.regex(error?.message ?? '', /^files exited with code 3/);
	const {sentence} = error as BridgeError;
	t.regex(sentence, /The end of its stderr: x+disk on fire$/m);
	t.true(sentence.length < 1500);
	t.like(await started.exited, {code: 3, signal: null, cause: 'itself'});
});

test.serial('redacts secrets in the end of stderr', async t => {
	const started = startChild(t, 'process.stderr.write("bad token: hunter2"); process.exitCode = 1');
	const {sentence} = (await listen(started).ended) as BridgeError;
	t.regex(sentence, /bad token: \[redacted\]/);
});

test.serial('reports the signal that terminated a child', async t => {
	const started = startChild(t, 'process.kill(process.pid, "SIGKILL")');
	const error = await listen(started).ended;
	t.like(error, {code: 'ERR_CHILD_EXITED', details: {exitCode: null, signal: 'SIGKILL'}});
	t.regex(error?.message ?? '', /was ended by SIGKILL/);
});

test.serial('delivers all messages that a child sent before it exited', async t => {
	const source =
		'let text = ""; for (let i = 0; i < 20_000; i++) text += i + "\\n"; process.stdout.write(text); process.exitCode = 1';
	const output = listen(startChild(t, source));
	t.like(await output.ended, {code: 'ERR_CHILD_EXITED'});
	t.is(output.texts.length, 20_000);
	t.is(output.texts.at(-1), '19999');
});

test.serial('reports a command that does not exist', async t => {
	const started = startChild(t, {command: 'no-such-program-here', args: []});
	const output = listen(started);
	const error = await t.throwsAsync(started.exited, {code: 'ERR_COMMAND_UNUSABLE'});
	t.regex(error?.message ?? '', /no-such-program-here could not be started: there is no such command/);
	t.is(await output.ended, error);
	await started.close();
});

test.serial('reports a missing command as missing when a folder of the PATH is not searchable', async t => {
	const folder = join(tempFolder(t), 'closed');
	mkdirSync(folder, {mode: 0});
	t.teardown(() => chmodSync(folder, 0o700));
	const env = {PATH: `${process.env.PATH}${delimiter}${folder}`};
	const started = startChild(t, {command: 'no-such-program-here', args: []}, {env});
	listen(started);
	const error = await t.throwsAsync(started.exited, {code: 'ERR_COMMAND_UNUSABLE'});
	t.regex(error?.message ?? '', /there is no such command/);
});

test.serial('reports a command that is not executable', async t => {
	const command = join(tempFolder(t), 'plain');
	writeFileSync(command, '#!/bin/sh\n', {mode: 0o644});
	const started = startChild(t, {command, args: []});
	listen(started);
	const error = await t.throwsAsync(started.exited, {code: 'ERR_COMMAND_UNUSABLE'});
	t.regex(error?.message ?? '', /may not be executed/);
});

test.serial('stops reading a child under backpressure, and loses no message', async t => {
	const count = 20_000;
	const source = `const line = "x".repeat(1000) + "\\n"; let left = ${count};
		const go = () => { while (left > 0) { left--; if (!process.stdout.write(line)) return process.stdout.once("drain", go); } process.stderr.write("all"); }; go();`;
	let stderr = '';
	let open: (() => void) | undefined;
	const onStderr = (chunk: Buffer): void => {
		stderr += chunk;
	};
	const started = startChild(t, source, {onStderr});
	const output = listen(started, ({origin}) => {
		open ??= origin.valve.shut();
	});
	await until(() => output.texts.length > 0);
	const seen = output.texts.length;
	const since = performance.now();
	await until(() => performance.now() - since > 300);
	t.is(output.texts.length, seen);
	t.true(seen < 200, `${seen} messages passed a shut valve`);
	t.is(stderr, '');
	open?.();
	await output.ended;
	t.is(output.texts.length, count);
});

test.serial('shuts the valve of a sender while the child does not read, until the child exits', async t => {
	const started = startChild(t, `${READY} ${STAYS}`);
	const output = listen(started);
	await until(() => output.texts.length > 0);
	const sender: MessageOrigin = {name: 'client', valve: new Valve()};
	for (let count = 0; count < 10; count++)
		started.outgoing.next(Envelope.of({text: 'x'.repeat(100_000)}, sender));
	await until(() => !sender.valve.isOpen);
	started.kill();
	await until(() => sender.valve.isOpen);
	t.pass();
});

test.serial(
	'causes no leak warning while a slow reader delays the last output of an exited child',
	async t => {
		const warnings: Error[] = [];
		const onWarning = (warning: Error) => void warnings.push(warning);
		process.on('warning', onWarning);
		t.teardown(() => process.off('warning', onWarning));
		let open: (() => void) | undefined;
		const started = startChild(t, 'process.stdout.write("x\\n".repeat(75_000))');
		const output = listen(started, ({origin}) => {
			open ??= origin.valve.shut();
		});
		await until(() => output.texts.length > 0);
		const since = performance.now();
		await until(() => performance.now() - since > 6500 || warnings.length > 0);
		open?.();
		await output.ended;
		t.deepEqual(
			warnings.map(({message}) => message),
			[],
		);
	},
);
