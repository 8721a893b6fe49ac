import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {handshake, opening, server} from '../../helpers/bridge.js';
import {messageIn, program, type RunningGateway, startGateway} from '../../helpers/gateway.js';
import {logged, newFolder, newMarker, processesWith, signal} from '../../helpers/program.js';

const initialize = {id: 'mine', method: 'initialize', params: opening};
const statusOf = async (gateway: RunningGateway, service: string) =>
	JSON.parse((await gateway.fetch('/status')).text).services[service];

/** Checks the pauses before each restart, which have a jitter of 25 %. */
function hasPaused(
	t: ExecutionContext,
	gateway: RunningGateway,
	service: string,
	...expected: number[]
): number[] {
	const pauses = logged(gateway.running, 'upstream.lost')
		.filter(entry => entry.server === service)
		.map(({pauseMs}) => Number(pauseMs));
	for (const [at, ms] of expected.entries())
		t.true(Math.abs((pauses[at] ?? 0) - ms) <= ms / 4 + 1, `${pauses} instead of ${expected}`);
	return pauses;
}

test.serial(
	'fails pending calls with -31004 when a child dies, and serves the next call with a new child',
	async t => {
		const marker = newMarker(t);
		const gateway = await startGateway(t, {servers: {puppet: program('puppet', marker)}});
		const session = await gateway.open('puppet');
		const first = (await session.request(1, 'pid')).result as {pid: number};
		const held = session.post({id: 'held', method: 'hold'});
		t.deepEqual((await session.request(2, 'held')).result, {count: 1});
		signal(first.pid, 'SIGKILL');
		const lost = await held;
		t.is(lost.status, 502);
		t.like(messageIn(lost), {id: 'held', error: {code: -31004, data: {signal: 'SIGKILL'}}});
		const second = (await session.request(3, 'pid')).result as {pid: number};
		t.not(second.pid, first.pid);
		t.deepEqual(processesWith(marker), [second.pid]);
		const {lines} = (await session.request(4, 'heard')).result as {lines: string[]};
		t.like(JSON.parse(lines[0] ?? ''), {method: 'initialize', params: opening});
		t.is(lines[1], handshake[1]);
		t.like(await statusOf(gateway, 'puppet'), {state: 'ready', restarts: 1, sessions: 1});
		hasPaused(t, gateway, 'puppet', 250);
	},
);

test.serial(
	'replies with 503 and the reason when a command cannot be started, and serves other services',
	async t => {
		const gateway = await startGateway(t, {
			servers: {missing: {command: 'no-such-command-anywhere'}, puppet: program('puppet', newMarker(t))},
		});
		const reply = await gateway.post('missing', initialize);
		t.is(reply.status, 503);
		t.like(messageIn(reply), {id: 'mine', error: {code: -31001}});
		t.regex(reply.text, /there is no such command/);
		t.like(await statusOf(gateway, 'missing'), {state: 'failed', restarts: 0, sessions: 0});
		const session = await gateway.open('puppet');
		t.deepEqual((await session.request(1, 'echo', {a: 1})).result, {a: 1});
	},
);

test('increases the pause before each restart of a child that dies repeatedly [U-P0-2]', async t => {
	const gateway = await startGateway(t, {servers: {mortal: program('puppet', newMarker(t))}});
	const session = await gateway.open('mortal');
	for (const id of [1, 2, 3])
		t.like(messageIn(await session.post({id, method: 'exit', params: {code: 9}})), {
			error: {code: -31004, data: {exitCode: 9}},
		});
	t.like(await session.request(4, 'echo', {a: 1}), {result: {a: 1}});
	const pauses = hasPaused(t, gateway, 'mortal', 250, 500, 1000);
	// The chance that this fails is one in 15 million runs.
	t.notDeepEqual(pauses.slice(0, 3), [250, 500, 1000], 'the pauses have jitter');
	t.like(await statusOf(gateway, 'mortal'), {state: 'ready', restarts: 3});
});

test('fails each request with the reason while a child cannot be restarted [U-P0-2]', async t => {
	const flag = join(await newFolder(t), 'started');
	const script = `test -e "$0" && exit 3; touch "$0"; exec "$@"`;
	const args = ['-c', script, flag, ...server('puppet', newMarker(t))];
	const gateway = await startGateway(t, {servers: {once: {command: 'sh', args}}});
	const session = await gateway.open('once');
	const ended = await session.post({id: 1, method: 'exit', params: {code: 9}});
	t.is(ended.status, 502);
	t.like(messageIn(ended), {id: 1, error: {code: -31004, data: {exitCode: 9}}});
	for (const ids of [
		[2, 3],
		[4, 5],
	])
		for (const reply of await Promise.all(ids.map(id => session.post({id, method: 'pid'})))) {
			t.is(reply.status, 502);
			t.like(messageIn(reply), {error: {code: -31004, data: {exitCode: 3}}});
		}
	// The first two requests may arrive before or after the restart that the previous request caused.
	t.true((await statusOf(gateway, 'once')).restarts >= 2);
});
