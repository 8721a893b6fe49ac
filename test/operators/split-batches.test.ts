import test from 'ava';
import {matchResponses} from '../../lib/operators/match-responses.js';
import {parse} from '../../lib/operators/parse.js';
import {splitBatches} from '../../lib/operators/split-batches.js';
import {Negotiation} from '../../lib/protocol/negotiation.js';
import type {Version} from '../../lib/protocol/version.js';
import type {Message} from '../helpers/bridge.js';
import {converse, readableLog} from '../helpers/pipeline.js';

/** Connects a client of this version through the stages that parse and match messages. */
const start = (version: Version | undefined = '2025-03-26', maxBytes?: number) => {
	const negotiation = new Negotiation({upstream: 'files'});
	negotiation.setClient(version);
	const {log, entries} = readableLog();
	const stages = [
		splitBatches({negotiation, log, ...(maxBytes === undefined ? {} : {maxBytes})}),
		parse({log, from: 'client'}),
		matchResponses({log, upstream: 'files'}),
	];
	return {...converse(...stages, parse({log, from: 'upstream'})), entries};
};

const call = (id: unknown, method = 'a'): string => JSON.stringify({jsonrpc: '2.0', id, method});
const response = (id: unknown, result: unknown = {}): string => JSON.stringify({jsonrpc: '2.0', id, result});
const rejection = (id: unknown, message: string): Message => ({
	jsonrpc: '2.0',
	id,
	error: {code: -32_600, message: `Invalid Request: ${message}`},
});

test('forwards each message of a batch separately, in order and byte for byte', t => {
	const {client, upstream} = start();
	const texts = [
		'{"jsonrpc":"2.0", "id":1.0,"method":"a","params":{"n":1e400}}',
		'{"method":"notifications/x","jsonrpc":"2.0"}',
		'{"jsonrpc":"2.0","id":"[,]","method":"b","params":["]"]}',
	];
	client.sendText(` [\t${texts.join(' , ')}\r] `);
	t.deepEqual(upstream.receivedTexts, texts);
	t.deepEqual(client.received, []);
});

test('responds to a batch with one array, in order of completion, byte for byte', t => {
	const {client, upstream} = start();
	client.sendText(`[${call(1)},${call('two')},${call(3)}]`);
	const responses = [response(3, [1]), '{"id" : 1,"jsonrpc":"2.0","result":1.0}', response('two', 'x')];
	for (const text of responses) {
		t.deepEqual(client.received, []);
		upstream.sendText(text);
	}
	t.deepEqual(client.receivedTexts, [`[${responses.join()}]`]);
});

test('includes errors of the upstream in the array', t => {
	const {client, upstream} = start();
	client.sendText(`[${call(1)},${call(2)}]`);
	upstream.send({id: 2, error: {code: -32_601, message: 'no'}});
	upstream.send({id: 1, result: {}});
	t.like(client.received[0], [
		{id: 2, error: {code: -32_601}},
		{id: 1, result: {}},
	]);
});

test('forwards a batch without requests, and does not respond to it', t => {
	const {client, upstream} = start();
	const texts = ['{"jsonrpc":"2.0","method":"n"}', response('s1')];
	client.sendText(`[${texts.join()}]`);
	t.deepEqual(upstream.receivedTexts, texts);
	t.deepEqual(client.received, []);
	client.sendText(call(1));
	upstream.sendText(response(1));
	t.deepEqual(client.receivedTexts, [response(1)]);
});

test('forwards other messages of the upstream while a batch is pending', t => {
	const {client, upstream} = start();
	client.sendText(`[${call(1)}]`);
	client.sendText(call(2));
	const others = ['{"jsonrpc":"2.0","method":"n"}', call(1, 'roots/list'), response(2)];
	for (const text of others) upstream.sendText(text);
	t.deepEqual(client.receivedTexts, others);
	upstream.sendText(response(1));
	t.deepEqual(client.receivedTexts, [...others, `[${response(1)}]`]);
});

test('reports invalid elements of a batch in the array, and forwards the others', t => {
	const {client, upstream} = start();
	client.sendText(`[7,${call(1)},{"jsonrpc":"2.0"},[],{"jsonrpc":"1.0","id":3,"method":"a"}]`);
	t.deepEqual(upstream.receivedTexts, [call(1)]);
	t.deepEqual(client.received, []);
	upstream.sendText(response(1));
	const [responses = []] = client.received as unknown as Message[][];
	t.deepEqual(
		responses.map(({id, error}) => [id, (error as Message | undefined)?.code]),
		[
			[null, -32_600],
			[null, -32_600],
			[null, -32_600],
			[3, -32_600],
			[1, undefined],
		],
	);
	t.is(client.received.length, 1);
});

test('reports an element with an id but without a method in the array', t => {
	const {client, upstream} = start();
	client.sendText(`[{"jsonrpc":"2.0","id":2},${call(1)}]`);
	upstream.sendText(response(1));
	t.is(client.received.length, 1);
	t.like(client.received[0], [
		{id: 2, error: {code: -32_600}},
		{id: 1, result: {}},
	]);
});

test('responds immediately with an array to a batch without valid elements', t => {
	const {client, upstream} = start();
	client.sendText('[1,2]');
	t.like(client.received[0], [
		{id: null, error: {code: -32_600}},
		{id: null, error: {code: -32_600}},
	]);
	t.deepEqual(upstream.received, []);
});

test('responds to both requests with the same id in one array', t => {
	const {client, upstream} = start();
	client.sendText(`[${call(1)},${call(1)}]`);
	t.is(upstream.received.length, 1);
	upstream.sendText(response(1));
	t.like(client.received, [
		[
			{id: 1, error: {code: -32_600}},
			{id: 1, result: {}},
		],
	]);
});

test('separates the responses of two pending batches', t => {
	const {client, upstream} = start();
	client.sendText(`[${call(1)},${call(2)}]`);
	client.sendText(`[${call(3)},${call(4)}]`);
	for (const id of [4, 1, 3, 2]) upstream.sendText(response(id));
	t.deepEqual(client.receivedTexts, [`[${response(4)},${response(3)}]`, `[${response(1)},${response(2)}]`]);
});

for (const version of ['2024-11-05', '2025-06-18', '2025-11-25', '2026-07-28'] as const)
	test(`rejects a batch of a client of ${version}, and forwards none of it`, t => {
		const {client, upstream} = start(version);
		client.sendText(`[${call(1)},${call(2)}]`);
		t.deepEqual(client.received, [rejection(null, `JSON-RPC batches are not part of protocol ${version}`)]);
		t.deepEqual(upstream.received, []);
	});

test('rejects an empty batch in every version', t => {
	for (const version of ['2025-03-26', '2025-11-25', undefined] as const) {
		const {client, upstream} = start(version);
		client.sendText(' [ ] ');
		t.deepEqual(client.received, [rejection(null, 'a batch must not be empty')]);
		t.deepEqual(upstream.received, []);
	}
});

/** Connects a client before its handshake. */
const startEarly = () => {
	const negotiation = new Negotiation({upstream: 'files'});
	return converse(splitBatches({negotiation, log: readableLog().log}));
};

test('rejects each request of a batch before the handshake, and ignores notifications', t => {
	const {client, upstream} = startEarly();
	client.sendText(`[${call(1)},{"jsonrpc":"2.0","method":"n"},${call('two', 'initialize')}]`);
	t.deepEqual(client.received, [
		[rejection(1, 'not initialized'), rejection('two', 'initialize must not be part of a batch')],
	] as unknown as Message[]);
	client.sendText('[{"jsonrpc":"2.0","method":"n"}]');
	t.deepEqual(client.received[1], rejection(null, 'not initialized'));
	t.deepEqual(upstream.received, []);
});

test('rejects a batch that contains initialize after the handshake, too', t => {
	const {client, upstream} = start();
	client.sendText(`[${call(1, 'initialize')},${call(2)}]`);
	t.like(client.received[0], [
		{id: 1, error: {code: -32_600}},
		{id: 2, error: {code: -32_600}},
	]);
	t.deepEqual(upstream.received, []);
});

test('rejects a batch of more than 100 messages [A16]', t => {
	const calls = Array.from({length: 100}, (_, id) => call(id));
	const {client, upstream} = start();
	client.sendText(`[${calls.join()},${call(100)}]`);
	t.deepEqual(client.received, [rejection(null, 'a batch may hold at most 100 messages')]);
	t.deepEqual(upstream.received, []);
	client.sendText(`[${calls.join()}]`);
	t.deepEqual(upstream.receivedTexts, calls);
	for (const id of calls.keys()) upstream.sendText(response(id));
	t.is((client.received[1] as unknown as Message[]).length, 100);
});

test('rejects a batch while 100 batches are pending', t => {
	const {client, upstream} = start();
	for (let id = 0; id <= 100; id++) client.sendText(`[${call(id)}]`);
	t.deepEqual(client.received, [rejection(null, '100 batches are pending already')]);
	t.is(upstream.received.length, 100);
	upstream.sendText(response(0));
	client.sendText(`[${call('again')}]`);
	t.is(upstream.received.length, 101);
});

test('completes a batch without its cancelled request', t => {
	const {client, upstream} = start();
	client.sendText(`[${call(1)},${call(2)}]`);
	client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	upstream.sendText(response(2));
	t.deepEqual(client.receivedTexts, [`[${response(2)}]`]);
});

test('replaces a response over the buffer limit with an error, and logs it', async t => {
	const {client, upstream, entries} = start('2025-03-26', 1000);
	client.sendText(`[${call(1)},${call(2)},${call(3)}]`);
	upstream.sendText(response(1));
	upstream.sendText(response(2, {text: 'x'.repeat(1000)}));
	t.deepEqual(client.received, []);
	upstream.sendText(response(3));
	const parts = JSON.parse(client.receivedTexts[0] ?? '[]') as Message[];
	t.like(parts, [
		{id: 1, result: {}},
		{id: 2, error: {code: -31_003, data: {limit: 1000}}},
		{id: 3, result: {}},
	]);
	t.like(await entries(), [{event: 'client.batch.full', limit: 1000}]);
});

test('frees the buffer of a completed batch', t => {
	const {client, upstream} = start('2025-03-26', 60);
	for (const id of [1, 2, 3]) {
		client.sendText(`[${call(id)}]`);
		upstream.sendText(response(id));
	}
	t.deepEqual(client.receivedTexts, [`[${response(1)}]`, `[${response(2)}]`, `[${response(3)}]`]);
});
