import process from 'node:process';
import test from 'ava';
import {BridgeError} from '../../lib/core/errors.js';
import type {JsonObject} from '../../lib/util/json.js';
import {settled} from '../helpers/pipeline.js';
import {lastOf, type Pair} from '../helpers/version-stages.js';
import {fakeTimers} from './fake-timers.js';
import {ready, takeReceived, textResult} from './stateless-support.js';

const tool = (name: string, taskSupport: string) => ({
	name,
	inputSchema: {type: 'object'},
	execution: {taskSupport},
});

function listTools({client, upstream}: Pair, ...tools: JsonObject[]): void {
	client.send({id: 'list', method: 'tools/list'});
	upstream.send({id: 'list', result: {tools}});
}

/** Connects a client without task support, which has listed the tools of an upstream with tasks. */
function start(client = '2025-06-18', tasks: JsonObject = {requests: {tools: {call: {}}}}): Pair {
	const pair = ready({client, server: '2025-11-25', serverCapabilities: {tools: {}, tasks}});
	listTools(pair, tool('long', 'required'), tool('either', 'optional'), tool('short', 'forbidden'));
	for (const side of [pair.client, pair.upstream]) takeReceived(side);
	return pair;
}

const call = ({client}: Pair, id: unknown = 1, name = 'long'): void =>
	client.send({id, method: 'tools/call', params: {name, arguments: {a: 1}}});

const state = (status: string, more: JsonObject = {}) => ({taskId: 'T', status, ...more});

/** Calls the tool and creates its task. */
function createTask(pair: Pair, more: JsonObject = {pollInterval: 50}): void {
	call(pair);
	pair.upstream.send({id: 1, result: {task: state('working', more)}});
	takeReceived(pair.upstream);
}

const reply = ({upstream}: Pair, result: JsonObject): void =>
	upstream.send({id: lastOf(upstream).id, result});

test.serial('calls a task-only tool as a task, polls it and responds with its result', t => {
	const {tick} = fakeTimers(t);
	const pair = start();
	call(pair);
	t.like(takeReceived(pair.upstream), [
		{id: 1, params: {name: 'long', arguments: {a: 1}, task: {ttl: 300_000}}},
	]);
	pair.upstream.send({id: 1, result: {task: state('working', {pollInterval: 50})}});
	t.deepEqual(pair.upstream.received, []);
	tick(50);
	t.like(lastOf(pair.upstream), {method: 'tasks/get', params: {taskId: 'T'}});
	reply(pair, state('working'));
	tick(50);
	reply(pair, state('completed'));
	t.like(lastOf(pair.upstream), {method: 'tasks/result', params: {taskId: 'T'}});
	t.deepEqual(pair.client.received, []);
	reply(pair, textResult('done'));
	t.deepEqual(takeReceived(pair.client), [{jsonrpc: '2.0', id: 1, result: textResult('done')}]);
	tick(10_000);
	t.is(pair.upstream.received.length, 3);
});

test.serial('requests the result of a task that needs input, which triggers the server request', t => {
	const {tick} = fakeTimers(t);
	const pair = start();
	createTask(pair);
	tick(50);
	reply(pair, state('input_required'));
	t.like(lastOf(pair.upstream), {method: 'tasks/result'});
	const {id} = lastOf(pair.upstream);
	pair.upstream.send({id: 's', method: 'ping'});
	t.like(takeReceived(pair.client), [{id: 's', method: 'ping'}]);
	pair.upstream.send({id, result: textResult('done')});
	t.like(takeReceived(pair.client), [{id: 1, result: textResult('done')}]);
});

for (const status of ['failed', 'cancelled'])
	test.serial(`responds with the error of a ${status} task`, t => {
		const {tick} = fakeTimers(t);
		const pair = start();
		createTask(pair);
		tick(50);
		reply(pair, state(status));
		pair.upstream.send({id: lastOf(pair.upstream).id, error: {code: -32603, message: 'no'}});
		t.deepEqual(takeReceived(pair.client), [{jsonrpc: '2.0', id: 1, error: {code: -32603, message: 'no'}}]);
	});

test.serial('fails the call when the upstream no longer has the task', t => {
	const {tick} = fakeTimers(t);
	const pair = start();
	createTask(pair);
	tick(50);
	pair.upstream.send({id: lastOf(pair.upstream).id, error: {code: -32602, message: 'no such task'}});
	t.deepEqual(takeReceived(pair.client), [
		{jsonrpc: '2.0', id: 1, error: {code: -32602, message: 'no such task'}},
	]);
	tick(10_000);
	t.is(pair.upstream.received.length, 1);
});

test('forwards a result without a task', t => {
	const pair = start();
	call(pair);
	pair.upstream.send({id: 1, result: textResult('immediate')});
	t.deepEqual(takeReceived(pair.client), [{jsonrpc: '2.0', id: 1, result: textResult('immediate')}]);
});

test('forwards the error of a rejected task', t => {
	const pair = start();
	call(pair);
	pair.upstream.send({id: 1, error: {code: -32602, message: 'no'}});
	t.like(takeReceived(pair.client), [{id: 1, error: {code: -32602}}]);
});

for (const [interval, more, ms] of [
	['at the pollInterval of the upstream', {pollInterval: 700}, 700],
	['each second by default', {}, 1000],
	['at most every 50 ms', {pollInterval: 0}, 50],
] as const)
	test.serial(`polls a task ${interval}`, t => {
		const {tick} = fakeTimers(t);
		const pair = start();
		createTask(pair, more);
		tick(ms - 1);
		t.deepEqual(pair.upstream.received, []);
		tick(1);
		t.like(takeReceived(pair.upstream), [{method: 'tasks/get'}]);
	});

test.serial('polls a task at the last pollInterval of the upstream', t => {
	const {tick} = fakeTimers(t);
	const pair = start();
	createTask(pair);
	tick(50);
	reply(pair, state('working', {pollInterval: 300}));
	tick(299);
	t.is(pair.upstream.received.length, 1);
	tick(1);
	t.is(pair.upstream.received.length, 2);
});

test('clamps a pollInterval that is too long for a timer', async t => {
	const warnings: string[] = [];
	const addWarning = ({name}: Error): void => void warnings.push(name);
	process.on('warning', addWarning);
	t.teardown(() => process.off('warning', addWarning));
	createTask(start(), {pollInterval: 3e9});
	await settled();
	t.false(warnings.includes('TimeoutOverflowWarning'));
});

for (const [when, isPolling] of [
	['between two polls', false],
	['while a poll is pending', true],
] as const)
	test.serial(`cancels the task of a call that is cancelled ${when}`, t => {
		const {tick} = fakeTimers(t);
		const pair = start();
		createTask(pair);
		if (isPolling) tick(50);
		const pollId = lastOf(pair.upstream).id;
		takeReceived(pair.upstream);
		pair.client.send({method: 'notifications/cancelled', params: {requestId: 1}});
		t.like(takeReceived(pair.upstream), [{method: 'tasks/cancel', params: {taskId: 'T'}}]);
		const {length} = pair.upstream.received;
		if (isPolling) pair.upstream.send({id: pollId, result: state('completed')});
		tick(10_000);
		t.is(pair.upstream.received.length, length);
		t.deepEqual(pair.client.received, []);
	});

test('drops the response to tasks/cancel', async t => {
	const pair = start();
	createTask(pair, {});
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	reply(pair, state('cancelled'));
	t.deepEqual(pair.client.received, []);
	t.false((await pair.entries()).some(({event}) => event === 'rpc.orphan_response'));
});

test('forwards a cancellation before the task is created', t => {
	const pair = start();
	call(pair);
	takeReceived(pair.upstream);
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	t.like(takeReceived(pair.upstream), [{method: 'notifications/cancelled', params: {requestId: 1}}]);
});

test('cancels a task that is created after its call was cancelled', t => {
	const pair = start();
	call(pair);
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	takeReceived(pair.upstream);
	pair.upstream.send({id: 1, result: {task: state('working', {pollInterval: 50})}});
	t.like(takeReceived(pair.upstream), [{method: 'tasks/cancel', params: {taskId: 'T'}}]);
});

test.serial('stops polling and fails the call when the upstream exits', t => {
	const {tick} = fakeTimers(t);
	const pair = start();
	createTask(pair);
	pair.upstream.end(new BridgeError('ERR_CHILD_EXITED', 'It exited.', 'Check it.'));
	t.like(takeReceived(pair.client), [{id: 1, error: {code: -31_004}}]);
	tick(10_000);
	t.deepEqual(pair.upstream.received, []);
});

test.serial('continues polling after the end of the client', t => {
	const {tick} = fakeTimers(t);
	const pair = start();
	createTask(pair);
	pair.client.end();
	tick(10_000);
	t.like(pair.upstream.received, [{method: 'tasks/get'}]);
});

for (const [kind, pair, name] of [
	['a tool that may run without a task', start(), 'either'],
	['a tool that never runs as a task', start(), 'short'],
	['a tool of an upstream without tasks for calls', start('2025-06-18', {list: {}}), 'long'],
	['a tool for a client with task support', start('2025-11-25'), 'long'],
] as const)
	test(`does not change a call of ${kind}`, t => {
		call(pair, 1, name);
		t.deepEqual(takeReceived(pair.upstream), [
			{jsonrpc: '2.0', id: 1, method: 'tools/call', params: {name, arguments: {a: 1}}},
		]);
	});

test('does not change a call of a tool that no longer requires a task', t => {
	const pair = start();
	listTools(pair, tool('long', 'forbidden'));
	takeReceived(pair.upstream);
	call(pair);
	t.deepEqual(lastOf(pair.upstream).params, {name: 'long', arguments: {a: 1}});
});
