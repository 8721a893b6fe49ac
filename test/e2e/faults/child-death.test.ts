import test from 'ava';
import {answersTo, errorOf, isAllRpc, processesWith, startPuppet} from '../../helpers/program.js';

const BUG = /This is a bug|\n {4}at /;

test.serial(
	'fails 100 pending calls and all later ones with the signal when the child is killed [E1]',
	async t => {
		const {bridge, pid, marker} = await startPuppet(t);
		const ids = Array.from({length: 100}, (_, index) => index);
		for (const id of ids) bridge.send({id, method: 'hold'});
		t.like(await bridge.request('held', 'held'), {result: {count: 100}});
		process.kill(pid, 'SIGKILL');
		const responses = await Promise.all(ids.map(id => bridge.answer(id)));
		for (const response of responses) {
			t.is(errorOf(response).code, -31004);
			t.like(errorOf(response).data, {
				source: 'bridge',
				kind: 'child_exited',
				exitCode: null,
				signal: 'SIGKILL',
			});
		}
		t.like(await bridge.request('later', 'echo'), {error: {code: -31004, data: {signal: 'SIGKILL'}}});
		t.like(await bridge.request('later still', 'echo'), {error: {code: -31004}});
		t.is(await bridge.end(), 137);
		t.deepEqual(
			ids.filter(id => answersTo(bridge, id).length !== 1),
			[],
		);
		t.is(bridge.lines.length, 104);
		t.true(isAllRpc(bridge.lines));
		t.deepEqual(processesWith(marker), []);
	},
);

test.serial(
	'reports the exit code of the child in errors of pending calls and exits with it [E1]',
	async t => {
		const {bridge} = await startPuppet(t);
		bridge.send({id: 1, method: 'hold'});
		bridge.send({id: 2, method: 'exit', params: {code: 3}});
		for (const id of [1, 2])
			t.like(await bridge.answer(id), {error: {code: -31004, data: {exitCode: 3, signal: null}}});
		t.like(await bridge.request(3, 'echo'), {error: {code: -31004, data: {exitCode: 3}}});
		t.is(await bridge.end(), 3);
	},
);

test.serial('fails a pending call when the child exits with 0, and exits with 0 too [E1]', async t => {
	const {bridge} = await startPuppet(t);
	t.like(await bridge.request(1, 'exit', {code: 0}), {error: {code: -31004, data: {exitCode: 0}}});
	t.is(await bridge.end(), 0);
});

test.serial('drops a notification to a dead child without a reply [E1]', async t => {
	const {bridge} = await startPuppet(t);
	await bridge.request(1, 'exit', {code: 3});
	const count = bridge.lines.length;
	bridge.send({method: 'notifications/initialized'});
	await bridge.request(2, 'echo');
	t.is(bridge.lines.length, count + 1);
	t.is(await bridge.end(), 3);
});

test.serial('delivers responses of a child before the errors of its exit [E1]', async t => {
	const {bridge} = await startPuppet(t);
	for (let id = 0; id < 500; id++) bridge.send({id, method: 'big', params: {bytes: 2000}});
	bridge.send({id: 'last', method: 'exit', params: {code: 3}});
	t.like(await bridge.answer('last'), {error: {code: -31004}});
	t.is(bridge.lines.filter(line => line.includes('"result":{"text"')).length, 500);
	t.is(await bridge.end(), 3);
});

test.serial('treats a child that closes its stdout as dead [E7]', async t => {
	const {bridge, marker} = await startPuppet(t, ['--ignore-eof']);
	bridge.send({id: 1, method: 'hold'});
	bridge.send({method: 'close-stdout'});
	t.is(errorOf(await bridge.answer(1)).code, -31004);
	t.is(errorOf(await bridge.request(2, 'echo')).code, -31004);
	t.deepEqual(processesWith(marker), []);
	t.is(await bridge.end(), 1);
	t.is(answersTo(bridge, 1).length, 1);
});

test.serial('treats a child that closes its stdout and ignores SIGTERM as dead [E7]', async t => {
	const {bridge, marker} = await startPuppet(t, ['--ignore-eof', '--ignore-signals']);
	bridge.send({method: 'close-stdout'});
	t.is(errorOf(await bridge.request(1, 'echo')).code, -31004);
	t.deepEqual(processesWith(marker), []);
	t.is(await bridge.end(), 1);
});

test.serial('treats a child that closes its stdin as dead at the next call [E7]', async t => {
	const {bridge, marker} = await startPuppet(t, ['--ignore-eof']);
	bridge.send({id: 1, method: 'hold'});
	await bridge.request(2, 'close-stdin');
	t.is(errorOf(await bridge.request(3, 'echo')).code, -31004);
	t.is(errorOf(await bridge.answer(1)).code, -31004);
	t.deepEqual(processesWith(marker), []);
	t.is(await bridge.end(), 1);
});

test.serial(
	'replies once to each call that is written to an exiting child, without a stack trace [E8]',
	async t => {
		const {bridge} = await startPuppet(t);
		const calls = Array.from({length: 2000}, (_, id) =>
			JSON.stringify({jsonrpc: '2.0', id, method: 'echo', params: {text: 'x'.repeat(1000)}}),
		);
		bridge.sendText('{"jsonrpc":"2.0","id":"end","method":"exit","params":{"code":4}}\n');
		bridge.sendText(`${calls.join('\n')}\n`);
		await bridge.hasLines(2002);
		bridge.send({id: 'later', method: 'echo'});
		t.is(errorOf(await bridge.answer('later')).code, -31004);
		t.is(await bridge.end(), 4);
		const ids = new Set(bridge.lines.map(line => (JSON.parse(line) as {id: unknown}).id));
		t.is(ids.size, 2003);
		t.is(bridge.lines.length, 2003);
		t.notRegex(bridge.stderr, BUG);
	},
);
