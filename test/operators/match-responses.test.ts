import test from 'ava';
import fc from 'fast-check';
import {BridgeError} from '../../lib/core/errors.js';
import {matchResponses} from '../../lib/operators/match-responses.js';
import {converse, readableLog} from '../helpers/pipeline.js';

const start = () => {
	const {log, entries} = readableLog();
	return {...converse(matchResponses({log, upstream: 'files'})), entries};
};

const request = (id: string, method = 'm'): string => `{"jsonrpc":"2.0","id":${id},"method":"${method}"}`;
const result = (id: string): string => `{"jsonrpc":"2.0","id":${id},"result":{}}`;
const cancel = (id: string): string =>
	`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`;

const exited = (): BridgeError =>
	new BridgeError('ERR_CHILD_EXITED', 'files exited with code 3.', 'Start it again.', {
		exitCode: 3,
		signal: null,
	});

for (const id of ['0', '-1', '"1"', '""', '1.0', '1e3', '9007199254740993', '12345678901234567890', '0.5'])
	test(`forwards the request ${id} and its response byte for byte`, t => {
		const {client, upstream} = start();
		client.sendText(request(id));
		upstream.sendText(result(id));
		t.deepEqual(upstream.receivedTexts, [request(id)]);
		t.deepEqual(client.receivedTexts, [result(id)]);
	});

for (const [sent, received] of [
	['1.0', '1'],
	['1e3', '1000'],
	['9007199254740993', '9007199254740992'],
	['12345678901234567890', '12345678901234567000'],
	[String.raw`"\u0061"`, '"a"'],
	['"a/b"', String.raw`"a\/b"`],
] as const)
	test(`restores the id ${sent} when the upstream responds with ${received}`, t => {
		const {client, upstream} = start();
		client.sendText(request(sent));
		upstream.sendText(result(received));
		t.deepEqual(client.receivedTexts, [result(sent)]);
	});

test('distinguishes the ids 1 and "1"', t => {
	const {client, upstream} = start();
	client.sendText(request('1'));
	client.sendText(request('"1"'));
	upstream.sendText(result('"1"'));
	upstream.sendText(result('1'));
	t.deepEqual(upstream.receivedTexts, [request('1'), request('"1"')]);
	t.deepEqual(client.receivedTexts, [result('"1"'), result('1')]);
});

for (const [first, second] of [
	['1', '1'],
	['"a"', '"a"'],
	['"a"', String.raw`"\u0061"`],
	['1.0', '1.0'],
] as const)
	test(`rejects ${second} while ${first} is pending, and still completes the first`, t => {
		const {client, upstream} = start();
		client.sendText(request(first));
		client.sendText(request(second));
		t.like(client.received[0], {error: {code: -32_600, data: {source: 'bridge', kind: 'invalid_request'}}});
		t.true(client.receivedTexts[0]?.includes(`"id":${second},`));
		upstream.sendText(result(first));
		t.deepEqual(upstream.receivedTexts, [request(first)]);
		t.is(client.receivedTexts[1], result(first));
	});

test('distinguishes numbers that the upstream may confuse', t => {
	const {client, upstream} = start();
	const ids = ['1', '1.0', '1e0'];
	for (const id of ids) client.sendText(request(id));
	t.is(new Set(upstream.received.map(({id}) => id)).size, 3);
	for (const {id} of [...upstream.received].reverse()) upstream.send({id, result: {}});
	t.deepEqual(client.receivedTexts, ids.toReversed().map(result));
});

test('rejects a number whose renamed request is pending', t => {
	const {client, upstream} = start();
	for (const id of ['1', '1.0', '1.0']) client.sendText(request(id));
	t.is(upstream.received.length, 2);
	t.like(client.received, [{error: {code: -32_600}}]);
});

test('does not rename a request to an id that the client uses itself', t => {
	const {client, upstream} = start();
	client.sendText(request('"bridge-1"', 'own'));
	client.sendText(request('1'));
	client.sendText(request('1.0'));
	t.is(new Set(upstream.received.map(({id}) => id)).size, 3);
	upstream.sendText(result('"bridge-1"'));
	t.deepEqual(client.receivedTexts, [result('"bridge-1"')]);
});

test('accepts a client id that equals a generated one', t => {
	const {client, upstream} = start();
	client.sendText(request('1'));
	client.sendText(request('1.0'));
	client.sendText(request('"bridge-1"', 'own'));
	t.deepEqual(client.received, []);
	t.is(new Set(upstream.received.map(({id}) => id)).size, 3);
});

test('cancels a renamed request with its upstream id', t => {
	const {client, upstream} = start();
	client.sendText(request('1'));
	client.sendText(request('1.0'));
	client.sendText(cancel('1.0'));
	t.deepEqual(upstream.received[2]?.params, {requestId: upstream.received[1]?.id});
});

test('drops a cancellation whose id an upstream could confuse with that of another request [SEC-D9]', t => {
	const {client, upstream} = start();
	client.sendText(request('9007199254740993'));
	client.sendText(cancel('9007199254740992'));
	t.deepEqual(upstream.receivedTexts, [request('9007199254740993')]);
	upstream.sendText(result('9007199254740992'));
	t.deepEqual(client.receivedTexts, [result('9007199254740993')]);
});

test('forwards the cancellation of an unchanged id byte for byte', t => {
	const {client, upstream} = start();
	client.sendText(request('1'));
	client.sendText(cancel('1'));
	t.deepEqual(upstream.receivedTexts, [request('1'), cancel('1')]);
});

test('reads the cancelled id only from params.requestId', t => {
	const {client, upstream} = start();
	client.send({id: 1, method: 'm'});
	client.send({id: 2, method: 'm'});
	client.sendText(
		'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"_meta":{"requestId":2},"requestId":1}}',
	);
	upstream.end(exited());
	t.deepEqual(
		client.received.map(({id}) => id),
		[2],
	);
});

test('drops a response without a pending request, and logs it', async t => {
	const {client, upstream, entries} = start();
	upstream.sendText(result('1'));
	t.deepEqual(client.received, []);
	t.like(await entries(), [{event: 'rpc.orphan_response', id: '1', server: 'files'}]);
});

test('drops the second response to a request', async t => {
	const {client, upstream, entries} = start();
	client.sendText(request('1'));
	upstream.sendText(result('1'));
	upstream.sendText('{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"again"}}');
	t.deepEqual(client.receivedTexts, [result('1')]);
	t.is((await entries()).length, 1);
});

test('accepts an id again after its response', t => {
	const {client, upstream} = start();
	client.sendText(request('1'));
	upstream.sendText(result('1'));
	client.sendText(request('1'));
	upstream.sendText(result('1'));
	t.is(client.received.length, 2);
});

test('forwards requests, notifications and errors without an id from the upstream unchanged', async t => {
	const {client, upstream, entries} = start();
	const texts = [
		request('1', 'sampling/createMessage'),
		'{"jsonrpc":"2.0","method":"notifications/progress"}',
		'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}',
	];
	for (const text of texts) upstream.sendText(text);
	client.sendText(result('1'));
	t.deepEqual(client.receivedTexts, texts);
	t.deepEqual(upstream.receivedTexts, [result('1')]);
	t.deepEqual(await entries(), []);
});

test('matches each response to its request in any order', t => {
	const anyId = fc.oneof(fc.integer(), fc.string(), fc.double({noNaN: true, noDefaultInfinity: true}));
	fc.assert(
		fc.property(
			fc.uniqueArray(anyId.map(id => JSON.stringify(id))),
			fc.infiniteStream(fc.nat()),
			(ids, order) => {
				const {client, upstream} = start();
				for (const id of ids) client.sendText(request(id));
				const sorted = ids.map(id => ({id, at: order.next().value})).sort((a, b) => a.at - b.at);
				for (const {id} of sorted) upstream.sendText(result(id));
				t.deepEqual(
					client.receivedTexts,
					sorted.map(({id}) => result(id)),
				);
			},
		),
	);
});

test('corrects the method of a cancellation from SDK 1.0.1', t => {
	const {client, upstream} = start();
	client.sendText(request('1.0'));
	client.sendText('{"jsonrpc":"2.0","method":"cancelled","params":{"requestId":1.0,"reason":"why"}}');
	t.deepEqual(upstream.receivedTexts, [
		request('1.0'),
		'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1.0,"reason":"why"}}',
	]);
	client.sendText(request('1.0', 'again'));
	t.is(upstream.received.length, 3);
	t.deepEqual(client.received, []);
});

test('forwards a request with the method cancelled', t => {
	const {client, upstream} = start();
	client.sendText(request('1', 'cancelled'));
	t.deepEqual(upstream.receivedTexts, [request('1', 'cancelled')]);
});
