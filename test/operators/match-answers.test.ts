import test from 'ava';
import fc from 'fast-check';
import {BridgeError} from '../../lib/errors.js';
import {matchAnswers} from '../../lib/operators/match-answers.js';
import {converse, readableLog} from './support.js';

const start = () => {
	const {log, entries} = readableLog();
	return {...converse(matchAnswers({log, upstream: 'files'})), entries};
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
	test(`passes the request ${id} and its answer byte for byte`, t => {
		const {client, upstream} = start();
		client.sayText(request(id));
		upstream.sayText(result(id));
		t.deepEqual(upstream.heardTexts, [request(id)]);
		t.deepEqual(client.heardTexts, [result(id)]);
	});

for (const [asked, answered] of [
	['1.0', '1'],
	['1e3', '1000'],
	['9007199254740993', '9007199254740992'],
	['12345678901234567890', '12345678901234567000'],
	[String.raw`"\u0061"`, '"a"'],
	['"a/b"', String.raw`"a\/b"`],
] as const)
	test(`answers ${asked} under that spelling when the upstream says ${answered}`, t => {
		const {client, upstream} = start();
		client.sayText(request(asked));
		upstream.sayText(result(answered));
		t.deepEqual(client.heardTexts, [result(asked)]);
	});

test('takes 1 and "1" for two ids', t => {
	const {client, upstream} = start();
	client.sayText(request('1'));
	client.sayText(request('"1"'));
	upstream.sayText(result('"1"'));
	upstream.sayText(result('1'));
	t.deepEqual(upstream.heardTexts, [request('1'), request('"1"')]);
	t.deepEqual(client.heardTexts, [result('"1"'), result('1')]);
});

for (const [first, second] of [
	['1', '1'],
	['"a"', '"a"'],
	['"a"', String.raw`"\u0061"`],
	['1.0', '1.0'],
] as const)
	test(`refuses ${second} while ${first} is in flight, which goes on`, t => {
		const {client, upstream} = start();
		client.sayText(request(first));
		client.sayText(request(second));
		t.like(client.heard[0], {error: {code: -32_600, data: {source: 'bridge', kind: 'invalid_request'}}});
		t.true(client.heardTexts[0]?.includes(`"id":${second},`));
		upstream.sayText(result(first));
		t.deepEqual(upstream.heardTexts, [request(first)]);
		t.is(client.heardTexts[1], result(first));
	});

test('tells numbers apart that the upstream would take for one', t => {
	const {client, upstream} = start();
	const ids = ['1', '1.0', '1e0'];
	for (const id of ids) client.sayText(request(id));
	t.is(new Set(upstream.heard.map(({id}) => id)).size, 3);
	for (const {id} of [...upstream.heard].reverse()) upstream.say({id, result: {}});
	t.deepEqual(client.heardTexts, ids.toReversed().map(result));
});

test('refuses a number again that it has renamed and that is in flight', t => {
	const {client, upstream} = start();
	for (const id of ['1', '1.0', '1.0']) client.sayText(request(id));
	t.is(upstream.heard.length, 2);
	t.like(client.heard, [{error: {code: -32_600}}]);
});

test('gives a renamed request no name that the client uses itself', t => {
	const {client, upstream} = start();
	client.sayText(request('"bridge-1"', 'own'));
	client.sayText(request('1'));
	client.sayText(request('1.0'));
	t.is(new Set(upstream.heard.map(({id}) => id)).size, 3);
	upstream.sayText(result('"bridge-1"'));
	t.deepEqual(client.heardTexts, [result('"bridge-1"')]);
});

test('lets the client use a name that was given to a renamed request', t => {
	const {client, upstream} = start();
	client.sayText(request('1'));
	client.sayText(request('1.0'));
	client.sayText(request('"bridge-1"', 'own'));
	t.deepEqual(client.heard, []);
	t.is(new Set(upstream.heard.map(({id}) => id)).size, 3);
});

test('cancels a renamed request under the name that the upstream knows', t => {
	const {client, upstream} = start();
	client.sayText(request('1'));
	client.sayText(request('1.0'));
	client.sayText(cancel('1.0'));
	t.deepEqual(upstream.heard[2]?.params, {requestId: upstream.heard[1]?.id});
});

test('drops a cancellation whose id an upstream could confuse with that of another request [SEC-D9]', t => {
	const {client, upstream} = start();
	client.sayText(request('9007199254740993'));
	client.sayText(cancel('9007199254740992'));
	t.deepEqual(upstream.heardTexts, [request('9007199254740993')]);
	upstream.sayText(result('9007199254740992'));
	t.deepEqual(client.heardTexts, [result('9007199254740993')]);
});

test('passes a cancellation byte for byte where nothing was renamed', t => {
	const {client, upstream} = start();
	client.sayText(request('1'));
	client.sayText(cancel('1'));
	t.deepEqual(upstream.heardTexts, [request('1'), cancel('1')]);
});

test('takes only params.requestId for the request that is cancelled', t => {
	const {client, upstream} = start();
	client.say({id: 1, method: 'm'});
	client.say({id: 2, method: 'm'});
	client.sayText(
		'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"_meta":{"requestId":2},"requestId":1}}',
	);
	upstream.end(exited());
	t.deepEqual(
		client.heard.map(({id}) => id),
		[2],
	);
});

test('drops an answer that nobody waits for, and logs it', async t => {
	const {client, upstream, entries} = start();
	upstream.sayText(result('1'));
	t.deepEqual(client.heard, []);
	t.like(await entries(), [{event: 'rpc.orphan_response', id: '1', server: 'files'}]);
});

test('drops the second answer to a request', async t => {
	const {client, upstream, entries} = start();
	client.sayText(request('1'));
	upstream.sayText(result('1'));
	upstream.sayText('{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"again"}}');
	t.deepEqual(client.heardTexts, [result('1')]);
	t.is((await entries()).length, 1);
});

test('takes an id again once it was answered', t => {
	const {client, upstream} = start();
	client.sayText(request('1'));
	upstream.sayText(result('1'));
	client.sayText(request('1'));
	upstream.sayText(result('1'));
	t.is(client.heard.length, 2);
});

test('leaves requests, notifications and errors without id of the upstream alone', async t => {
	const {client, upstream, entries} = start();
	const texts = [
		request('1', 'sampling/createMessage'),
		'{"jsonrpc":"2.0","method":"notifications/progress"}',
		'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}',
	];
	for (const text of texts) upstream.sayText(text);
	client.sayText(result('1'));
	t.deepEqual(client.heardTexts, texts);
	t.deepEqual(upstream.heardTexts, [result('1')]);
	t.deepEqual(await entries(), []);
});

test('gives each request its own answer, in whatever order those come', t => {
	const anyId = fc.oneof(fc.integer(), fc.string(), fc.double({noNaN: true, noDefaultInfinity: true}));
	fc.assert(
		fc.property(
			fc.uniqueArray(anyId.map(id => JSON.stringify(id))),
			fc.infiniteStream(fc.nat()),
			(ids, order) => {
				const {client, upstream} = start();
				for (const id of ids) client.sayText(request(id));
				const sorted = ids.map(id => ({id, at: order.next().value})).sort((a, b) => a.at - b.at);
				for (const {id} of sorted) upstream.sayText(result(id));
				t.deepEqual(
					client.heardTexts,
					sorted.map(({id}) => result(id)),
				);
			},
		),
	);
});

test('a cancellation under the name that SDK 1.0.1 gives it is one', t => {
	const {client, upstream} = start();
	client.sayText(request('1.0'));
	client.sayText('{"jsonrpc":"2.0","method":"cancelled","params":{"requestId":1.0,"reason":"why"}}');
	t.deepEqual(upstream.heardTexts, [
		request('1.0'),
		'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1.0,"reason":"why"}}',
	]);
	client.sayText(request('1.0', 'again'));
	t.is(upstream.heard.length, 3);
	t.deepEqual(client.heard, []);
});

test('a request that is called cancelled is a request', t => {
	const {client, upstream} = start();
	client.sayText(request('1', 'cancelled'));
	t.deepEqual(upstream.heardTexts, [request('1', 'cancelled')]);
});
