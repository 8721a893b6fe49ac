import process from 'node:process';
import test from 'ava';
import {opening, server} from '../../helpers/bridge.js';
import {
	answersTo,
	errorOf,
	heardBy,
	logged,
	newMarker,
	processesWith,
	start,
	startHurried,
	startPuppet,
} from '../../helpers/program.js';

test.serial('times out calls to a frozen child with -31002, and sends it cancellations [E6]', async t => {
	const puppet = await startHurried(t, 2);
	const {bridge, pid} = puppet;
	process.kill(pid, 'SIGSTOP');
	for (const id of [1, 2, 'three']) bridge.send({id, method: 'echo', params: {id}});
	for (const id of [1, 2, 'three']) {
		const {code, data} = errorOf(await bridge.answer(id));
		t.is(code, -31002);
		t.like(data, {source: 'bridge', kind: 'timeout'});
	}
	process.kill(pid, 'SIGCONT');
	const cancelled = (await heardBy(puppet)).filter(line => line.includes('notifications/cancelled'));
	t.deepEqual(
		cancelled.map(line => JSON.parse(line).params.requestId),
		[1, 2, 'three'],
	);
	t.like(await bridge.request(4, 'echo', {still: 'serves'}), {result: {still: 'serves'}});
	for (const id of [1, 2, 'three']) t.is(answersTo(bridge, id).length, 1);
	t.is(await bridge.end(), 0);
	t.is(logged(bridge, 'rpc.orphan_response').length, 3);
});

test.serial('times out a slow initialize with -31002 without canceling it [E6]', async t => {
	const marker = newMarker(t);
	const startedLine = '--say={"jsonrpc":"2.0","method":"notifications/started"}\n';
	const bridge = start(t, ['--timeout', '2', '--', ...server('puppet', startedLine, marker)]);
	await bridge.message(({method}) => method === 'notifications/started');
	const pid = processesWith(marker).find(other => other !== bridge.pid) ?? 0;
	process.kill(pid, 'SIGSTOP');
	t.is(errorOf(await bridge.request(1, 'initialize', opening)).code, -31002);
	process.kill(pid, 'SIGCONT');
	const received = await heardBy({bridge, pid, marker});
	t.true(received[0]?.includes('"method":"initialize"'));
	t.is(received.filter(line => line.includes('"method":"initialize"')).length, 1);
	t.false(received.some(line => line.includes('cancelled')));
	t.is(await bridge.end(), 0);
});

test.serial('drops a response after the timeout with a warning, and serves other calls [A12]', async t => {
	const {bridge} = await startHurried(t, 2);
	t.is(errorOf(await bridge.request(1, 'slow', {ms: 4000})).code, -31002);
	t.like(await bridge.request(2, 'echo', {ok: true}), {result: {ok: true}});
	await bridge.says(/rpc\.orphan_response/);
	t.like(await bridge.request(3, 'echo', {ok: true}), {result: {ok: true}});
	t.is(answersTo(bridge, 1).length, 1);
	t.is(await bridge.end(), 0);
});

test.serial('waits for a slow response with --timeout 0 [E6]', async t => {
	const {bridge} = await startPuppet(t, [], ['--timeout', '0']);
	t.like(await bridge.request(1, 'slow', {ms: 1000}), {result: {ms: 1000}});
	t.is(await bridge.end(), 0);
});

test.serial('does not reply to a canceled call at its timeout [E6]', async t => {
	const {bridge} = await startHurried(t, 2);
	bridge.send({id: 1, method: 'hold'});
	bridge.send({method: 'notifications/cancelled', params: {requestId: 1}});
	t.is(errorOf(await bridge.request(2, 'hold')).code, -31002);
	t.is(answersTo(bridge, 1).length, 0);
	t.is(await bridge.end(), 0);
});

test.serial(
	'replies to timed-out calls under their original ids, also if bridge had renamed one [E6]',
	async t => {
		const puppet = await startHurried(t, 2);
		const {bridge} = puppet;
		const tokens = ['9007199254740992', '9007199254740993', '1.0', '"\\u0041"'];
		for (const token of tokens) bridge.sendText(`{"jsonrpc":"2.0","id":${token},"method":"hold"}\n`);
		const lines = await bridge.hasLines(1 + tokens.length);
		for (const token of tokens)
			t.is(lines.filter(line => line.includes(`"id":${token},"error":{"code":-31002`)).length, 1, token);
		const cancelled = (await heardBy(puppet)).filter(line => line.includes('cancelled'));
		const requests = (await heardBy(puppet)).filter(line => line.includes('"hold"'));
		const requestIds = cancelled.map(line => JSON.parse(line).params.requestId);
		t.deepEqual(
			requestIds,
			requests.map(line => JSON.parse(line).id),
		);
		t.is(await bridge.end(), 0);
	},
);
