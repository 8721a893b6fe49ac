import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {bridgeBin, type Running, runBridge, shellHandshake, welcome} from '../../helpers/bridge.js';
import {
	answersTo,
	logged,
	newFolder,
	newMarker,
	processesWith,
	start,
	startHurried,
	startPuppet,
	startReady,
	until,
} from '../../helpers/program.js';

const notice = `${JSON.stringify({jsonrpc: '2.0', method: 'notifications/x', params: {pad: 'x'.repeat(100)}})}\n`;

/** Children that do not read, at all or after the handshake. */
for (const [title, isReady] of [
	['does not read', true],
	['never responds to the handshake', false],
] as const) {
	const startUnresponsive = (t: ExecutionContext, marker: string): Running | Promise<Running> =>
		isReady
			? startReady(t, ['--', 'sh', '-c', `${shellHandshake} sleep 900 # ${marker}`])
			: start(t, ['--', 'sh', '-c', `sleep 900 # ${marker}`]);

	test.serial(`exits when the client closes stdin although the child ${title} [E4]`, async t => {
		const marker = newMarker(t);
		const bridge = await startUnresponsive(t, marker);
		bridge.sendText(notice.repeat(5000));
		t.is(await bridge.end(), 0);
		t.deepEqual(processesWith(marker), []);
	});

	test.serial(`exits when the client dies during a write although the child ${title} [E4]`, async t => {
		const marker = newMarker(t);
		const bridge = await startUnresponsive(t, marker);
		bridge.sendText(notice.repeat(30_000));
		await until(() => processesWith(marker).length > 0);
		bridge.stdin.destroy();
		t.is((await bridge.exited).code, 0);
		t.deepEqual(processesWith(marker), []);
	});
}

test.serial('stops an unresponsive server behind two instances of bridge [E4]', async t => {
	const marker = newMarker(t);
	const unresponsive = `trap "" TERM; while :; do sleep 900; done # ${marker}`;
	const bridge = start(t, ['--', process.execPath, bridgeBin, '--', 'sh', '-c', unresponsive]);
	await until(() => processesWith(marker).length > 0);
	t.is(await bridge.end(), 0);
	await until(() => processesWith(marker).length === 0);
});

test.serial('waits for a child to exit that closes its stdout first [E7]', async t => {
	const source = `process.stdin.once('data', () => console.log(${JSON.stringify(welcome)})).on('end', () => {
		require('node:fs').closeSync(1);
		setTimeout(() => process.exit(7), 1200);
	})`;
	t.is((await runBridge(['--', process.execPath, '-e', source], notice, {isReady: true})).code, 7);
});

test.serial('does not fail a call because of a log line on stdout that contains its id [A5]', async t => {
	const {bridge} = await startPuppet(t);
	bridge.send({id: 1, method: 'slow', params: {ms: 300}});
	const line = Buffer.from('{"level":30,"id":1,"msg":"handling"}\n').toString('base64');
	bridge.send({method: 'raw', params: {base64: line}});
	t.like(await bridge.answer(1), {result: {ms: 300}});
	await bridge.says(/child\.stdout\.garbage/);
	t.is(logged(bridge, 'child.stdout.garbage').length, 1);
});

test.serial('does not match a late response with a reused id [E6]', async t => {
	const {bridge} = await startHurried(t, 2);
	t.like(await bridge.request(1, 'slow', {ms: 4000}), {error: {code: -31_002}});
	bridge.send({id: 1, method: 'echo', params: {second: true}});
	await until(() => answersTo(bridge, 1).length === 2);
	t.like(answersTo(bridge, 1)[1], {result: {second: true}});
	await bridge.says(/rpc\.orphan_response/);
	t.is(answersTo(bridge, 1).length, 2);
});

test.serial('the traffic log names the side that closed the conversation', async t => {
	const log = join(await newFolder(t), 'log');
	const {bridge, pid} = await startPuppet(t, [], ['--log', log]);
	process.kill(pid, 'SIGKILL');
	t.like(await bridge.request(1, 'echo'), {error: {code: -31_004}});
	t.is(await bridge.end(), 137);
	t.regex(await readFile(log, 'utf8'), /"event":"close","from":"puppet","to":"client"\}\n$/);
});

test.serial('reports an output that cannot be written and exits with 1 [G2]', async t => {
	const {code, stderr} = await runBridge(['--log-level', 'error'], notice, {stdout: '/dev/full'});
	t.is(code, 1);
	t.regex(stderr, /stdio\.failed.*ENOSPC/);
});
