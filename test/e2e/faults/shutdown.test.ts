import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import test from 'ava';
import {type Message, type Running, server, shellHandshake} from '../../helpers/bridge.js';
import {
	answersTo,
	bytesRead,
	errorOf,
	isAllRpc,
	newFolder,
	newMarker,
	processesWith,
	signal,
	start,
	startPuppet,
	startReady,
	until,
	untilStill,
} from '../../helpers/program.js';

/** Suppresses warnings of bridge, for example on processes that other tests left behind. */
const quiet = ['--log-level', 'error'];
const BUG = /This is a bug|\n {4}at /;

for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
	test.serial(`${name} stops bridge and its child with exit code 0 [L1]`, async t => {
		const {bridge, marker} = await startPuppet(t, [], quiet);
		bridge.child.kill(name);
		t.deepEqual(await bridge.exited, {code: 0, signal: null});
		t.deepEqual(processesWith(marker), []);
		t.is(bridge.stderr, '');
	});

test.serial('the end of stdin stops bridge and its child with exit code 0 [L1]', async t => {
	const {bridge, marker} = await startPuppet(t, [], quiet);
	t.is(await bridge.end(), 0);
	t.deepEqual(processesWith(marker), []);
	t.is(bridge.stderr, '');
});

test.serial('exits with the code of a child that exits at the end of its input [L1]', async t => {
	const marker = newMarker(t);
	const script = `${shellHandshake} read line; read line; exit 9 # ${marker}`;
	const bridge = await startReady(t, ['--', 'sh', '-c', script]);
	bridge.send({method: 'x'});
	t.is(await bridge.end(), 9);
	t.deepEqual(processesWith(marker), []);
});

test.serial('delivers responses to calls that are pending at the end of stdin [L1]', async t => {
	const {bridge} = await startPuppet(t);
	for (let id = 0; id < 50; id++) bridge.send({id, method: 'slow', params: {ms: 500 + id, id}});
	t.is(await bridge.end(), 0);
	for (let id = 0; id < 50; id++) t.like(answersTo(bridge, id), [{result: {id}}]);
});

test.serial('delivers the responses to 2000 calls before it exits at the end of stdin [L1]', async t => {
	const calls = Array.from({length: 2000}, (_, id) =>
		JSON.stringify({jsonrpc: '2.0', id, method: 'big', params: {bytes: 1000}}),
	);
	const {bridge} = await startPuppet(t);
	bridge.stdin.end(calls.join('\n'));
	t.deepEqual(await bridge.exited, {code: 0, signal: null});
	t.deepEqual(
		bridge.lines.slice(1).map(line => (JSON.parse(line) as Message).id),
		[...calls.keys()],
	);
});

test.serial('fails a call without a response with -31005 after the client has closed stdin [L1]', async t => {
	t.timeout(20_000);
	const {bridge} = await startPuppet(t, ['--ignore-eof']);
	bridge.send({id: 1, method: 'hold'});
	await bridge.request(2, 'held');
	t.is(await bridge.end(), 0);
	t.is(answersTo(bridge, 1).length, 1);
	t.like(answersTo(bridge, 1)[0], {error: {code: -31005, data: {source: 'bridge', kind: 'closed'}}});
});

test.serial('replies once to a call that is pending at SIGTERM [L1]', async t => {
	const {bridge} = await startPuppet(t);
	bridge.send({id: 1, method: 'hold'});
	bridge.send({id: 2, method: 'slow', params: {ms: 300}});
	await bridge.request(3, 'held');
	bridge.child.kill('SIGTERM');
	t.deepEqual(await bridge.exited, {code: 0, signal: null});
	t.like(answersTo(bridge, 2), [{result: {ms: 300}}]);
	t.is(answersTo(bridge, 1).length, 1);
	t.true([-31004, -31005].includes(errorOf(answersTo(bridge, 1)[0] ?? {}).code));
});

test.serial(
	'a second signal kills a child that ignores signals and completes the traffic log [L2]',
	async t => {
		const log = join(await newFolder(t), 'traffic.ndjson');
		const {bridge, marker} = await startPuppet(t, ['--ignore-eof', '--ignore-signals'], ['--log', log]);
		bridge.child.kill('SIGTERM');
		await bridge.says(/The end of input is ignored/);
		bridge.child.kill('SIGINT');
		t.deepEqual(await bridge.exited, {code: 0, signal: null});
		t.deepEqual(processesWith(marker), []);
		t.notRegex(bridge.stderr, /SIGTERM is ignored/);
		const events = (await readFile(log, 'utf8')).trimEnd().split('\n');
		t.regex(events[0] ?? '', /"event":"open"/);
		t.regex(events.at(-1) ?? '', /"event":"close"/);
	},
);

test.serial('exits once on 100 signals in a second and leaves no process behind [L2]', async t => {
	t.timeout(20_000);
	const {bridge, marker} = await startPuppet(t, ['--ignore-eof', '--ignore-signals', '--helper=session']);
	await until(() => processesWith(marker).length === 2);
	const names = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
	for (let count = 0; count < 100; count++) {
		signal(bridge.pid, names[count % 3] ?? 'SIGTERM');
		await sleep(10);
	}
	const {code} = await bridge.exited;
	t.true([0, 129, 130, 143].includes(code ?? -1), `exit code ${code}`);
	t.notRegex(bridge.stderr, BUG);
	t.true(isAllRpc(bridge.lines));
	await until(() => processesWith(marker).length === 0);
});

/** Whether the process has exited. Works also while its output is not read to the end. */
const hasExited = ({child}: Running): boolean => child.exitCode !== null || child.signalCode !== null;

test.serial('two signals stop bridge although its client has stopped reading [L2]', async t => {
	t.timeout(20_000);
	const marker = newMarker(t);
	const bridge = start(t, ['--', ...server('flood', String(2 ** 40), '10000', marker)]);
	await bridge.hasLines(1);
	bridge.child.stdout?.pause();
	await untilStill(() => bytesRead(bridge.pid));
	bridge.child.kill('SIGTERM');
	// The child is stopped only after bridge has handled the first signal.
	await until(() => processesWith(marker).length === 0);
	bridge.child.kill('SIGTERM');
	await until(() => hasExited(bridge));
	t.is(bridge.child.signalCode, null);
});

test.serial('one SIGTERM stops bridge although its client has stopped reading [L1]', async t => {
	t.timeout(20_000);
	const marker = newMarker(t);
	const bridge = start(t, ['--', ...server('flood', String(2 ** 40), '10000', marker)]);
	await bridge.hasLines(1);
	bridge.child.stdout?.pause();
	await untilStill(() => bytesRead(bridge.pid));
	bridge.child.kill('SIGTERM');
	await until(() => hasExited(bridge));
	t.deepEqual(processesWith(marker), []);
	t.is(bridge.child.signalCode, null);
});

test.serial(
	'a signal at any of 20 moments during startup stops bridge and leaves no process behind [L3]',
	async t => {
		t.timeout(60_000);
		const attempt = async (delayMs: number): Promise<void> => {
			const marker = newMarker(t);
			const bridge = start(t, ['--', ...server('puppet', '--helper=group', marker)]);
			await sleep(delayMs);
			signal(bridge.pid, 'SIGTERM');
			const {code, signal: killedBy} = await bridge.exited;
			// Before bridge installs its handlers, the signal itself kills it.
			t.true(code === 0 || killedBy === 'SIGTERM', `after ${delayMs} ms: ${code} ${killedBy}`);
			await until(() => processesWith(marker).length === 0);
			t.notRegex(bridge.stderr, BUG);
		};
		const delays = Array.from({length: 20}, (_, index) => index * 12);
		while (delays.length > 0) await Promise.all(delays.splice(0, 2).map(attempt));
	},
);
