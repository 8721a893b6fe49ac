import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {startBridge} from '../helpers/bridge.js';
import {until} from '../helpers/pipeline.js';
import {readLog, tempFolder} from '../helpers/temp-folder.js';
import {dayOf, fakeClock} from './fake-clock.js';
import {echoServer} from './tools.js';

/** Starts bridge with a wall clock that the test sets. */
const start = async (t: ExecutionContext, ...flags: string[]) => {
	const {env, setClock} = fakeClock(t);
	const bridge = startBridge([...flags, '--', ...echoServer], {env});
	t.teardown(() => bridge.child.kill('SIGKILL'));
	// The handshake completes first: the clock must change while bridge runs.
	t.like(await bridge.shakeHands(), {result: {serverInfo: {name: 'echo'}}});
	/** Sets the clock, and waits for a log line of bridge with that date. */
	const jump = async (days: number): Promise<void> => {
		setClock(days);
		const before = bridge.stderr.length;
		bridge.sendText('not a message\n');
		const pattern = new RegExp(`"time":"(?:${dayOf(days)}|${dayOf(days - 1 / 24)}|${dayOf(days + 1 / 24)})T`);
		await until(() => pattern.test(bridge.stderr.slice(before)));
	};
	return {bridge, jump, setClock};
};

test.serial('clock changes do not time out a call', async t => {
	const {bridge, jump} = await start(t, '--timeout', '50');
	bridge.send({id: 1, method: 'hold'});
	for (const days of [1, -1, 400, -400, 0]) await jump(days);
	bridge.send({method: 'release'});
	t.like(await bridge.answer(1), {result: {}});
	t.is(await bridge.end(), 0);
});

for (const days of [-1, 1])
	test.serial(`a call times out after its limit when the clock moves by ${days} day`, async t => {
		const {bridge, jump} = await start(t, '--timeout', '5');
		const sentAt = performance.now();
		bridge.send({id: 1, method: 'hold'});
		await jump(days);
		t.like(await bridge.answer(1), {error: {code: -31_002}});
		const took = performance.now() - sentAt;
		t.true(took > 4900 && took < 20_000, `${took} ms`);
		await bridge.end();
	});

test.serial('calls succeed and time out as usual after clock changes', async t => {
	const {bridge, jump} = await start(t, '--timeout', '5');
	await jump(-30);
	t.like(await bridge.request(1, 'echo'), {result: {}});
	t.like(await bridge.request(2, 'hold'), {error: {code: -31_002}});
	await jump(30);
	t.like(await bridge.request(3, 'echo'), {result: {}});
	t.is(await bridge.end(), 0);
});

test.serial('bridge exits promptly when the clock is set back during its shutdown', async t => {
	const {bridge, jump, setClock} = await start(t);
	await jump(1);
	bridge.stdin.end();
	setClock(-1);
	t.is((await bridge.exited).code, 0);
});

test.serial('the traffic log contains the current wall clock time after a clock change', async t => {
	const log = join(tempFolder(t), 'log.ndjson');
	const {bridge, jump} = await start(t, '--log', log);
	await jump(2);
	await bridge.request(1, 'echo');
	await bridge.end();
	const line = readLog(log).findLast(({message}) => (message as {id?: unknown} | undefined)?.id === 1);
	t.true([dayOf(2), dayOf(2 - 1 / 24)].includes(line?.time.slice(0, 10) ?? ''), line?.time);
});
