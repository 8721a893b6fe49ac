import test from 'ava';
import {matchResponses} from '../../lib/operators/match-responses.js';
import {parse} from '../../lib/operators/parse.js';
import {splitBatches} from '../../lib/operators/split-batches.js';
import {Negotiation} from '../../lib/protocol/negotiation.js';
import type {Version} from '../../lib/protocol/version.js';
import type {Message} from '../helpers/bridge.js';
import {converse, readableLog} from '../helpers/pipeline.js';

/** A client that speaks this version, in front of what a pipeline does with messages. */
const start = (version: Version | undefined = '2025-03-26', maxBytes?: number) => {
	const session = new Negotiation({upstream: 'files'});
	session.setClient(version);
	const {log, entries} = readableLog();
	const stages = [
		splitBatches({negotiation: session, log, ...(maxBytes === undefined ? {} : {maxBytes})}),
		parse({log, from: 'client'}),
		matchResponses({log, upstream: 'files'}),
	];
	return {...converse(...stages, parse({log, from: 'upstream'})), entries};
};

const call = (id: unknown, method = 'a'): string => JSON.stringify({jsonrpc: '2.0', id, method});
const answer = (id: unknown, result: unknown = {}): string => JSON.stringify({jsonrpc: '2.0', id, result});
const refusal = (id: unknown, message: string): Message => ({
	jsonrpc: '2.0',
	id,
	error: {code: -32_600, message: `Invalid Request: ${message}`},
});

test('each message of a batch goes to the server by itself, in order and byte for byte', t => {
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

test('a batch is answered with one array, in the order of finishing, byte for byte', t => {
	const {client, upstream} = start();
	client.sendText(`[${call(1)},${call('two')},${call(3)}]`);
	const answers = [answer(3, [1]), '{"id" : 1,"jsonrpc":"2.0","result":1.0}', answer('two', 'x')];
	for (const text of answers) {
		t.deepEqual(client.received, []);
		upstream.sendText(text);
	}
	t.deepEqual(client.receivedTexts, [`[${answers.join()}]`]);
});

test('an error of the server is an answer like others', t => {
	const {client, upstream} = start();
	client.sendText(`[${call(1)},${call(2)}]`);
	upstream.send({id: 2, error: {code: -32_601, message: 'no'}});
	upstream.send({id: 1, result: {}});
	t.like(client.received[0], [
		{id: 2, error: {code: -32_601}},
		{id: 1, result: {}},
	]);
});

test('a batch of notifications and answers alone is passed on, and not answered', t => {
	const {client, upstream} = start();
	const texts = ['{"jsonrpc":"2.0","method":"n"}', answer('s1')];
	client.sendText(`[${texts.join()}]`);
	t.deepEqual(upstream.receivedTexts, texts);
	t.deepEqual(client.received, []);
	client.sendText(call(1));
	upstream.sendText(answer(1));
	t.deepEqual(client.receivedTexts, [answer(1)]);
});

test('what the server says beside the answers passes while a batch waits', t => {
	const {client, upstream} = start();
	client.sendText(`[${call(1)}]`);
	client.sendText(call(2));
	const others = ['{"jsonrpc":"2.0","method":"n"}', call(1, 'roots/list'), answer(2)];
	for (const text of others) upstream.sendText(text);
	t.deepEqual(client.receivedTexts, others);
	upstream.sendText(answer(1));
	t.deepEqual(client.receivedTexts, [...others, `[${answer(1)}]`]);
});

test('what is no message in a batch is answered inside of the array, and the others go on', t => {
	const {client, upstream} = start();
	client.sendText(`[7,${call(1)},{"jsonrpc":"2.0"},[],{"jsonrpc":"1.0","id":3,"method":"a"}]`);
	t.deepEqual(upstream.receivedTexts, [call(1)]);
	t.deepEqual(client.received, []);
	upstream.sendText(answer(1));
	const [answers = []] = client.received as unknown as Message[][];
	t.deepEqual(
		answers.map(({id, error}) => [id, (error as Message | undefined)?.code]),
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

test('what has an id but no method is answered inside of the array, too', t => {
	const {client, upstream} = start();
	client.sendText(`[{"jsonrpc":"2.0","id":2},${call(1)}]`);
	upstream.sendText(answer(1));
	t.is(client.received.length, 1);
	t.like(client.received[0], [
		{id: 2, error: {code: -32_600}},
		{id: 1, result: {}},
	]);
});

test('a batch with nothing in it that is a message is answered at once, with an array', t => {
	const {client, upstream} = start();
	client.sendText('[1,2]');
	t.like(client.received[0], [
		{id: null, error: {code: -32_600}},
		{id: null, error: {code: -32_600}},
	]);
	t.deepEqual(upstream.received, []);
});

test('an id that is in a batch twice is answered twice, in the one array', t => {
	const {client, upstream} = start();
	client.sendText(`[${call(1)},${call(1)}]`);
	t.is(upstream.received.length, 1);
	upstream.sendText(answer(1));
	t.like(client.received, [
		[
			{id: 1, error: {code: -32_600}},
			{id: 1, result: {}},
		],
	]);
});

test('two batches that wait at a time get their own answers', t => {
	const {client, upstream} = start();
	client.sendText(`[${call(1)},${call(2)}]`);
	client.sendText(`[${call(3)},${call(4)}]`);
	for (const id of [4, 1, 3, 2]) upstream.sendText(answer(id));
	t.deepEqual(client.receivedTexts, [`[${answer(4)},${answer(3)}]`, `[${answer(1)},${answer(2)}]`]);
});

for (const version of ['2024-11-05', '2025-06-18', '2025-11-25', '2026-07-28'] as const)
	test(`a batch of a client of ${version} is refused, and nothing of it reaches the server`, t => {
		const {client, upstream} = start(version);
		client.sendText(`[${call(1)},${call(2)}]`);
		t.deepEqual(client.received, [refusal(null, `JSON-RPC batches are not part of protocol ${version}`)]);
		t.deepEqual(upstream.received, []);
	});

test('an empty batch is refused, whatever the client speaks', t => {
	for (const version of ['2025-03-26', '2025-11-25', undefined] as const) {
		const {client, upstream} = start(version);
		client.sendText(' [ ] ');
		t.deepEqual(client.received, [refusal(null, 'a batch must not be empty')]);
		t.deepEqual(upstream.received, []);
	}
});

/** A client that has not said what it speaks. */
const startEarly = () => {
	const session = new Negotiation({upstream: 'files'});
	return converse(splitBatches({negotiation: session, log: readableLog().log}));
};

test('before the handshake each request of a batch is refused, and notifications are not answered', t => {
	const {client, upstream} = startEarly();
	client.sendText(`[${call(1)},{"jsonrpc":"2.0","method":"n"},${call('two', 'initialize')}]`);
	t.deepEqual(client.received, [
		[refusal(1, 'not initialized'), refusal('two', 'initialize must not be part of a batch')],
	] as unknown as Message[]);
	client.sendText('[{"jsonrpc":"2.0","method":"n"}]');
	t.deepEqual(client.received[1], refusal(null, 'not initialized'));
	t.deepEqual(upstream.received, []);
});

test('a batch with initialize in it is refused after the handshake, too', t => {
	const {client, upstream} = start();
	client.sendText(`[${call(1, 'initialize')},${call(2)}]`);
	t.like(client.received[0], [
		{id: 1, error: {code: -32_600}},
		{id: 2, error: {code: -32_600}},
	]);
	t.deepEqual(upstream.received, []);
});

test('a hundred messages may be in a batch, and no more [A16]', t => {
	const calls = Array.from({length: 100}, (_, id) => call(id));
	const {client, upstream} = start();
	client.sendText(`[${calls.join()},${call(100)}]`);
	t.deepEqual(client.received, [refusal(null, 'a batch may hold at most 100 messages')]);
	t.deepEqual(upstream.received, []);
	client.sendText(`[${calls.join()}]`);
	t.deepEqual(upstream.receivedTexts, calls);
	for (const id of calls.keys()) upstream.sendText(answer(id));
	t.is((client.received[1] as unknown as Message[]).length, 100);
});

test('a hundred batches may wait at a time, and one more is refused', t => {
	const {client, upstream} = start();
	for (let id = 0; id <= 100; id++) client.sendText(`[${call(id)}]`);
	t.deepEqual(client.received, [refusal(null, '100 batches wait for their answers already')]);
	t.is(upstream.received.length, 100);
	upstream.sendText(answer(0));
	client.sendText(`[${call('again')}]`);
	t.is(upstream.received.length, 101);
});

test('a cancelled request is not waited for by its batch', t => {
	const {client, upstream} = start();
	client.sendText(`[${call(1)},${call(2)}]`);
	client.send({method: 'notifications/cancelled', params: {requestId: 1}});
	upstream.sendText(answer(2));
	t.deepEqual(client.receivedTexts, [`[${answer(2)}]`]);
});

test('an answer that does not fit beside those that wait is replaced by an error, and that is told', async t => {
	const {client, upstream, entries} = start('2025-03-26', 1000);
	client.sendText(`[${call(1)},${call(2)},${call(3)}]`);
	upstream.sendText(answer(1));
	upstream.sendText(answer(2, {text: 'x'.repeat(1000)}));
	t.deepEqual(client.received, []);
	upstream.sendText(answer(3));
	const parts = JSON.parse(client.receivedTexts[0] ?? '[]') as Message[];
	t.like(parts, [
		{id: 1, result: {}},
		{id: 2, error: {code: -31_003, data: {limit: 1000}}},
		{id: 3, result: {}},
	]);
	t.like(await entries(), [{event: 'client.batch.full', limit: 1000}]);
});

test('what a finished batch held leaves room for the next', t => {
	const {client, upstream} = start('2025-03-26', 60);
	for (const id of [1, 2, 3]) {
		client.sendText(`[${call(id)}]`);
		upstream.sendText(answer(id));
	}
	t.deepEqual(client.receivedTexts, [`[${answer(1)}]`, `[${answer(2)}]`, `[${answer(3)}]`]);
});
