import process from 'node:process';
import test from 'ava';
import {BridgeError} from '../../lib/core/errors.js';
import type {JsonObject} from '../../lib/util/json.js';
import {settled} from '../helpers/pipeline.js';
import {lastOf, type Pair} from '../helpers/version-stages.js';
import {fakeTimers} from './fake-timers.js';
import {news, ready, textResult} from './stateless-support.js';

const tool = (name: string, taskSupport: string) => ({
	name,
	inputSchema: {type: 'object'},
	execution: {taskSupport},
});

function listTools({client, upstream}: Pair, ...tools: JsonObject[]): void {
	client.send({id: 'list', method: 'tools/list'});
	upstream.send({id: 'list', result: {tools}});
}

/** A client from before there were tasks knows the tools of a server that has them. */
function start(client = '2025-06-18', tasks: JsonObject = {requests: {tools: {call: {}}}}): Pair {
	const pair = ready({client, server: '2025-11-25', serverCapabilities: {tools: {}, tasks}});
	listTools(pair, tool('long', 'required'), tool('either', 'optional'), tool('short', 'forbidden'));
	for (const side of [pair.client, pair.upstream]) news(side);
	return pair;
}

const call = ({client}: Pair, id: unknown = 1, name = 'long'): void =>
	client.send({id, method: 'tools/call', params: {name, arguments: {a: 1}}});

const state = (status: string, more: JsonObject = {}) => ({taskId: 'T', status, ...more});

/** The call is a task by now. */
function created(pair: Pair, more: JsonObject = {pollInterval: 50}): void {
	call(pair);
	pair.upstream.send({id: 1, result: {task: state('working', more)}});
	news(pair.upstream);
}

const reply = ({upstream}: Pair, result: JsonObject): void =>
	upstream.send({id: lastOf(upstream).id, result});

test.serial(
	'a tool that only runs as a task is called as one, asked after, and its result is the answer',
	t => {
		const {tick} = fakeTimers(t);
		const pair = start();
		call(pair);
		t.like(news(pair.upstream), [{id: 1, params: {name: 'long', arguments: {a: 1}, task: {ttl: 300_000}}}]);
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
		t.deepEqual(news(pair.client), [{jsonrpc: '2.0', id: 1, result: textResult('done')}]);
		tick(10_000);
		t.is(pair.upstream.received.length, 3);
	},
);

test.serial('a task that needs input is asked for its result, with which the question comes', t => {
	const {tick} = fakeTimers(t);
	const pair = start();
	created(pair);
	tick(50);
	reply(pair, state('input_required'));
	t.like(lastOf(pair.upstream), {method: 'tasks/result'});
	const {id} = lastOf(pair.upstream);
	pair.upstream.send({id: 's', method: 'ping'});
	t.like(news(pair.client), [{id: 's', method: 'ping'}]);
	pair.upstream.send({id, result: textResult('done')});
	t.like(news(pair.client), [{id: 1, result: textResult('done')}]);
});

for (const status of ['failed', 'cancelled'])
	test.serial(`the error of a task that is ${status} is the answer`, t => {
		const {tick} = fakeTimers(t);
		const pair = start();
		created(pair);
		tick(50);
		reply(pair, state(status));
		pair.upstream.send({id: lastOf(pair.upstream).id, error: {code: -32603, message: 'no'}});
		t.deepEqual(news(pair.client), [{jsonrpc: '2.0', id: 1, error: {code: -32603, message: 'no'}}]);
	});

test.serial('a task that the server knows no more is an error to the client', t => {
	const {tick} = fakeTimers(t);
	const pair = start();
	created(pair);
	tick(50);
	pair.upstream.send({id: lastOf(pair.upstream).id, error: {code: -32602, message: 'no such task'}});
	t.deepEqual(news(pair.client), [{jsonrpc: '2.0', id: 1, error: {code: -32602, message: 'no such task'}}]);
	tick(10_000);
	t.is(pair.upstream.received.length, 1);
});

test('a server that answers without a task has answered', t => {
	const pair = start();
	call(pair);
	pair.upstream.send({id: 1, result: textResult('at once')});
	t.deepEqual(news(pair.client), [{jsonrpc: '2.0', id: 1, result: textResult('at once')}]);
});

test('a server that refuses the task has answered', t => {
	const pair = start();
	call(pair);
	pair.upstream.send({id: 1, error: {code: -32602, message: 'no'}});
	t.like(news(pair.client), [{id: 1, error: {code: -32602}}]);
});

for (const [what, given, ms] of [
	['as often as the server says', {pollInterval: 700}, 700],
	['each second where it says nothing', {}, 1000],
	['not more often than is good for it', {pollInterval: 0}, 50],
] as const)
	test.serial(`a task is asked after ${what}`, t => {
		const {tick} = fakeTimers(t);
		const pair = start();
		created(pair, given);
		tick(ms - 1);
		t.deepEqual(pair.upstream.received, []);
		tick(1);
		t.like(news(pair.upstream), [{method: 'tasks/get'}]);
	});

test.serial('a task is asked after as the server last said', t => {
	const {tick} = fakeTimers(t);
	const pair = start();
	created(pair);
	tick(50);
	reply(pair, state('working', {pollInterval: 300}));
	tick(299);
	t.is(pair.upstream.received.length, 1);
	tick(1);
	t.is(pair.upstream.received.length, 2);
});

test('a task with a pollInterval beyond all timers is not asked after all the time', async t => {
	const warnings: string[] = [];
	const note = ({name}: Error): void => void warnings.push(name);
	process.on('warning', note);
	t.teardown(() => process.off('warning', note));
	created(start(), {pollInterval: 3e9});
	await settled();
	t.false(warnings.includes('TimeoutOverflowWarning'));
});

for (const [when, isAsking] of [
	['between two questions', false],
	['while the server is asked after it', true],
] as const)
	test.serial(`a call given up ${when} stops its task, and nothing comes after`, t => {
		const {tick} = fakeTimers(t);
		const pair = start();
		created(pair);
		if (isAsking) tick(50);
		const question = lastOf(pair.upstream).id;
		news(pair.upstream);
		pair.client.send({method: 'notifications/cancelled', params: {requestId: 1}});
		t.like(news(pair.upstream), [{method: 'tasks/cancel', params: {taskId: 'T'}}]);
		const {length} = pair.upstream.received;
		if (isAsking) pair.upstream.send({id: question, result: state('completed')});
		tick(10_000);
		t.is(pair.upstream.received.length, length);
		t.deepEqual(pair.client.received, []);
	});

test('the answer to a task that is stopped is for nobody', async t => {
	const pair = start();
	created(pair, {});
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	reply(pair, state('cancelled'));
	t.deepEqual(pair.client.received, []);
	t.false((await pair.entries()).some(({event}) => event === 'rpc.orphan_response'));
});

test('a call given up before its task is there is given up as any other', t => {
	const pair = start();
	call(pair);
	news(pair.upstream);
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	t.like(news(pair.upstream), [{method: 'notifications/cancelled', params: {requestId: 1}}]);
});

test('a task that comes after its call was given up is stopped', t => {
	const pair = start();
	call(pair);
	pair.client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	news(pair.upstream);
	pair.upstream.send({id: 1, result: {task: state('working', {pollInterval: 50})}});
	t.like(news(pair.upstream), [{method: 'tasks/cancel', params: {taskId: 'T'}}]);
});

test.serial('a server that dies is asked after nothing any more, and the call fails', t => {
	const {tick} = fakeTimers(t);
	const pair = start();
	created(pair);
	pair.upstream.end(new BridgeError('ERR_CHILD_EXITED', 'It died.', 'Look.'));
	t.like(news(pair.client), [{id: 1, error: {code: -31_004}}]);
	tick(10_000);
	t.deepEqual(pair.upstream.received, []);
});

test.serial('a client that says no more is still polled for what it called', t => {
	const {tick} = fakeTimers(t);
	const pair = start();
	created(pair);
	pair.client.end();
	tick(10_000);
	t.like(pair.upstream.received, [{method: 'tasks/get'}]);
});

for (const [what, pair, name] of [
	['a tool that may run without a task', start(), 'either'],
	['a tool that never runs as one', start(), 'short'],
	['a tool of a server that offers no tasks for calls', start('2025-06-18', {list: {}}), 'long'],
	['a client that knows tasks itself', start('2025-11-25'), 'long'],
] as const)
	test(`${what} is called as it was`, t => {
		call(pair, 1, name);
		t.deepEqual(news(pair.upstream), [
			{jsonrpc: '2.0', id: 1, method: 'tools/call', params: {name, arguments: {a: 1}}},
		]);
	});

test('a tool that no longer has to run as a task is called as it was', t => {
	const pair = start();
	listTools(pair, tool('long', 'forbidden'));
	news(pair.upstream);
	call(pair);
	t.deepEqual(lastOf(pair.upstream).params, {name: 'long', arguments: {a: 1}});
});
