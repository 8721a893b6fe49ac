import {createHook} from 'node:async_hooks';
import test from 'ava';
import {PendingRequests} from '../../lib/core/requests/pending.js';
import {matchResponses} from '../../lib/operators/match-responses.js';
import {timeLimit} from '../../lib/operators/time-limit.js';
import {converse, readableLog, until} from '../helpers/pipeline.js';

/** Connects a pair with a limit of 20 ms, and a clock that the test controls. */
const start = () => {
	const clock = {ms: 0};
	const pending = new PendingRequests(() => clock.ms);
	const {log, entries} = readableLog();
	const stages = [
		matchResponses({log, upstream: 'files', pending}),
		timeLimit({timeoutMs: 20, upstream: 'files', pending, setting: '--timeout SECONDS'}),
	];
	return {...converse(...stages), clock, entries};
};

test('fails a request that takes too long', async t => {
	const {client, clock} = start();
	client.send({id: 'a', method: 'tools/call'});
	clock.ms = 20;
	await until(() => client.received.length > 0);
	t.like(client.received, [
		{
			id: 'a',
			error: {code: -31_002, data: {source: 'bridge', kind: 'timeout', timeoutMs: 20, method: 'tools/call'}},
		},
	]);
	t.regex(
		client.receivedTexts[0] ?? '',
		/files did not respond to tools\/call within 0\.02 s.*raise --timeout SECONDS \(0/,
	);
});

test('cancels the request upstream with its exact id', async t => {
	const {client, upstream, clock} = start();
	client.sendText('{"jsonrpc":"2.0","id":9007199254740993,"method":"m"}');
	clock.ms = 20;
	await until(() => upstream.received.length > 1);
	t.like(upstream.received[1], {method: 'notifications/cancelled'});
	t.regex(upstream.receivedTexts[1] ?? '', /"requestId":9007199254740993,/);
});

test('does not cancel an initialize', async t => {
	const {client, upstream, clock} = start();
	client.send({id: 1, method: 'initialize'});
	clock.ms = 20;
	await until(() => client.received.length > 0);
	t.like(client.received, [{id: 1, error: {code: -31_002}}]);
	t.is(upstream.received.length, 1);
});

test('does not claim in the error that an initialize was cancelled', async t => {
	const {client, clock} = start();
	client.send({id: 1, method: 'initialize'});
	clock.ms = 20;
	await until(() => client.received.length > 0);
	t.false(client.receivedTexts[0]?.includes('was cancelled'));
});

test('fails only expired requests', async t => {
	const {client, clock} = start();
	client.send({id: 1, method: 'a'});
	clock.ms = 15;
	client.send({id: 2, method: 'a'});
	clock.ms = 20;
	await until(() => client.received.length > 0);
	t.like(client.received, [{id: 1}]);
	clock.ms = 35;
	await until(() => client.received.length > 1);
	t.like(client.received[1], {id: 2, error: {code: -31_002}});
});

test('measures time with its own clock, not with timers', async t => {
	const {client, clock} = start();
	client.send({id: 1, method: 'a'});
	const started = performance.now();
	await until(() => performance.now() - started > 60);
	t.deepEqual(client.received, []);
	clock.ms = 20;
	await until(() => client.received.length > 0);
	t.like(client.received, [{id: 1}]);
});

test('does not fail a request with a response in time', async t => {
	const {client, upstream, clock} = start();
	client.send({id: 1, method: 'a'});
	client.send({id: 2, method: 'a'});
	upstream.send({id: 1, result: {}});
	clock.ms = 20;
	await until(() => client.received.length > 1);
	t.like(client.received, [
		{id: 1, result: {}},
		{id: 2, error: {code: -31_002}},
	]);
	t.is(upstream.received.length, 3);
});

for (const [sent, cancelled] of [
	['1', '1'],
	['"a"', '"a"'],
	['1.0', '1.0'],
	['9007199254740993', '9007199254740993'],
] as const)
	test(`drops the request ${sent} when the client cancels ${cancelled}`, async t => {
		const {client, upstream, clock} = start();
		client.sendText(`{"jsonrpc":"2.0","id":${sent},"method":"a"}`);
		client.sendText(
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${cancelled}}}`,
		);
		client.send({id: 'last', method: 'b'});
		clock.ms = 20;
		await until(() => client.received.length > 0);
		t.like(client.received, [{id: 'last'}]);
		t.is(client.received.length, 1);
		t.is(upstream.received.length, 4);
	});

test('forwards cancellations without params or of unknown requests unchanged', t => {
	const {client, upstream} = start();
	client.send({method: 'notifications/cancelled'});
	client.send({method: 'notifications/cancelled', params: null});
	client.send({method: 'notifications/cancelled', params: {requestId: {a: 1}}});
	t.is(upstream.received.length, 3);
});

test('ignores requests of the upstream', async t => {
	const {client, upstream, clock} = start();
	upstream.send({id: 1, method: 'sampling/createMessage'});
	client.send({id: 1, method: 'a'});
	upstream.send({id: 1, method: 'roots/list'});
	clock.ms = 20;
	await until(() => client.received.length > 2);
	t.like(client.received[2], {id: 1, error: {code: -31_002}});
});

test('is an empty stage if the limit is 0', t => {
	t.deepEqual(timeLimit({timeoutMs: 0, upstream: 'files', pending: new PendingRequests()}), {});
});

test('uses one timer for all pending requests', t => {
	const {client, link} = start();
	let timers = 0;
	const hook = createHook({
		init(_id, type) {
			if (type === 'Timeout') timers++;
		},
	}).enable();
	for (let id = 0; id < 1000; id++) client.send({id, method: 'a'});
	hook.disable();
	t.is(timers, 1);
	link.unsubscribe();
});

test('sends no timeout errors after the upstream has disconnected', async t => {
	const {client, upstream, clock} = start();
	client.send({id: 1, method: 'a'});
	upstream.end();
	clock.ms = 20;
	const started = performance.now();
	await until(() => performance.now() - started > 40);
	t.like(client.received, [{id: 1, error: {code: -31_005}}]);
});

test('lets matchResponses drop a late response', async t => {
	const {client, upstream, clock, entries} = start();
	client.send({id: 1, method: 'a'});
	clock.ms = 20;
	await until(() => client.received.length > 0);
	upstream.send({id: 1, result: {}});
	t.is(client.received.length, 1);
	t.like(await entries(), [{event: 'rpc.orphan_response', id: '1'}]);
});
