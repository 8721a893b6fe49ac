import test from 'ava';
import {Envelope} from '../../lib/core/envelope.js';
import {parse} from '../../lib/operators/parse.js';
import {converse, readableLog} from '../helpers/pipeline.js';

const start = (maxBytes = 1000) => {
	const {log, entries} = readableLog();
	return {
		...converse(parse({log, maxBytes, from: 'client'}), parse({log, maxBytes, from: 'upstream'})),
		entries,
	};
};

const nested = (levels: number): string =>
	`{"jsonrpc":"2.0","id":1,"method":"m","params":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;

for (const [content, text] of [
	['odd white space', ' {"jsonrpc" : "2.0",\t"id":1 , "method":"m"} '],
	['a carriage return as white space', '{"jsonrpc":"2.0",\r"method":"m"}'],
	[
		'numbers that JavaScript would round',
		'{"jsonrpc":"2.0","id":9007199254740993,"method":"m","params":[1.0,1e3,-0]}',
	],
	['escapes of half a surrogate pair', String.raw`{"jsonrpc":"2.0","id":"\ud800","method":"m"}`],
	[
		'line separators and an escaped NUL',
		'{"jsonrpc":"2.0","method":"m","params":["\u2028\u2029","\\u0000"]}',
	],
	['keys that differ in case', '{"jsonrpc":"2.0","id":1,"method":"m","Method":"n","ID":2}'],
	['a key twice below the top level', '{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":{"a":1,"a":2}}}'],
	['1,000 levels', nested(1000)],
	['a response', '{"jsonrpc":"2.0","id":1,"result":{}}'],
	['an error without an id', '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}'],
] as const)
	test(`forwards ${content} byte for byte, either way`, t => {
		const {client, upstream} = start();
		client.sendText(text);
		upstream.sendText(text);
		t.deepEqual(upstream.receivedTexts, [text]);
		t.deepEqual(client.receivedTexts, [text]);
	});

test('rejects a message that has too many values, or a key that is too long, either way [SEC-D11]', t => {
	const {client, upstream} = start(10_000_000);
	for (const params of [`[${'{},'.repeat(1_000_000)}1]`, `{"${'k'.repeat(16_384)}":1}`]) {
		client.sendText(`{"jsonrpc":"2.0","id":7,"method":"m","params":${params}}`);
		t.like(client.received.at(-1), {id: 7, error: {code: -31_007}});
		upstream.sendText(`{"jsonrpc":"2.0","id":8,"result":${params}}`);
		t.like(client.received.at(-1), {id: 8, error: {code: -31_007}});
	}
	t.deepEqual(upstream.receivedTexts, []);
});

test('sends the upstream an error for a request or response with too many values [SEC-D11]', t => {
	const {client, upstream} = start(10_000_000);
	const many = `[${'{},'.repeat(1_000_000)}1]`;
	upstream.sendText(`{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"a":${many}}}`);
	t.like(upstream.received.at(-1), {id: 7, error: {code: -31_007}});
	client.sendText(`{"jsonrpc":"2.0","id":8,"result":${many}}`);
	t.like(upstream.received.at(-1), {id: 8, error: {code: -31_007}});
	t.deepEqual(client.receivedTexts, []);
});

for (const [content, text, code, id] of [
	['plain text', 'hello', -32_700, null],
	['half a message', '{"jsonrpc":"2.0","id":1', -32_700, null],
	['two messages on one line', '{"jsonrpc":"2.0","id":1,"method":"m"}{}', -32_700, null],
	['an unescaped tab in a string', '{"jsonrpc":"2.0","id":1,"method":"a\tb"}', -32_700, null],
	['a batch', '[{"jsonrpc":"2.0","id":1,"method":"m"}]', -32_600, null],
	['an empty batch', '[]', -32_600, null],
	['a string', '"hello"', -32_600, null],
	['null', 'null', -32_600, null],
	['no version', '{"id":5,"method":"m"}', -32_600, 5],
	['another version', '{"jsonrpc":"1.0","id":5,"method":"m"}', -32_600, 5],
	['a version that is a number', '{"jsonrpc":2.0,"id":5,"method":"m"}', -32_600, 5],
	['neither method nor result', '{"jsonrpc":"2.0","id":5}', -32_600, 5],
	['a method that is a number', '{"jsonrpc":"2.0","id":5,"method":5}', -32_600, 5],
	['two methods', '{"jsonrpc":"2.0","id":5,"method":"a","method":"b"}', -32_600, 5],
	[
		'two methods, one in escapes',
		String.raw`{"jsonrpc":"2.0","id":5,"method":"a","\u006dethod":"b"}`,
		-32_600,
		5,
	],
	['params twice', '{"jsonrpc":"2.0","id":5,"method":"a","params":{},"params":{}}', -32_600, 5],
	[
		'two names in params',
		'{"jsonrpc":"2.0","id":5,"method":"a","params":{"name":"x","name":"y"}}',
		-32_600,
		5,
	],
	['an id of null', '{"jsonrpc":"2.0","id":null,"method":"m"}', -32_600, null],
	['an id that is true', '{"jsonrpc":"2.0","id":true,"method":"m"}', -32_600, null],
	['an id that is an object', '{"jsonrpc":"2.0","id":{"a":1},"method":"m"}', -32_600, null],
	['an id that is an array', '{"jsonrpc":"2.0","id":[1],"method":"m"}', -32_600, null],
	['1,001 levels', nested(1001), -32_600, 1],
	['100,000 levels', nested(100_000), -32_600, 1],
] as const)
	test(`rejects ${content} with ${code} and continues`, t => {
		const {client, upstream} = start();
		client.sendText(text);
		client.send({id: 6, method: 'next'});
		t.is(client.received.length, 1);
		t.like(client.received[0], {jsonrpc: '2.0', id, error: {code, data: {source: 'bridge'}}});
		t.deepEqual(upstream.received, [{jsonrpc: '2.0', id: 6, method: 'next'}]);
	});

test('sends one error for a message with two ids', t => {
	const {client, upstream} = start();
	client.sendText('{"jsonrpc":"2.0","id":5,"id":6,"method":"a"}');
	t.like(client.received, [{error: {code: -32_600}}]);
	t.is(client.received.length, 1);
	t.deepEqual(upstream.received, []);
});

test('rejects bytes that are not UTF-8', t => {
	const {client, upstream} = start();
	client.sayBytes(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"m\xff"}\n', 'latin1'));
	t.like(client.received[0], {id: null, error: {code: -32_700, data: {kind: 'parse_error'}}});
	t.deepEqual(upstream.received, []);
});

test('preserves the notation of the id in an error', t => {
	const {client} = start();
	client.sendText('{"id":12345678901234567890,"method":"m"}');
	t.regex(client.receivedTexts[0] ?? '', /"id":12345678901234567890,/);
});

test('rejects a message over the limit with an error that contains the limit', t => {
	const {client, upstream} = start(1000);
	client.sayEnvelope(
		Envelope.tooLarge(Buffer.from('{"id":"a"'), {id: '"a"', isResponse: false}, client.origin),
	);
	t.like(client.received[0], {id: 'a', error: {code: -31_007, data: {kind: 'too_large', limit: 1000}}});
	t.regex(client.receivedTexts[0] ?? '', /more than 1000 bytes \(limits\.message\)/);
	t.deepEqual(upstream.received, []);
});

for (const [content, text] of [
	['a response of another version', '{"jsonrpc":"1.0","id":1,"result":{}}'],
	['a response with both result and error', '{"jsonrpc":"2.0","id":1,"result":{},"error":{}}'],
] as const)
	test(`drops ${content} without a reply`, async t => {
		const {client, upstream, entries} = start();
		client.sendText(text);
		t.deepEqual(client.received, []);
		t.deepEqual(upstream.received, []);
		t.like(await entries(), [{event: 'client.message.refused', side: 'client'}]);
	});

test('sends its error with the origin of the invalid message', t => {
	const {client, link} = start();
	link.unsubscribe();
	const {log} = readableLog();
	const other = converse(parse({log, from: 'client'}), {
		toClient: source => {
			source.subscribe(envelope => t.is(envelope.origin, other.client.origin));
			return source;
		},
	});
	t.plan(1);
	other.client.sendText('hello');
	t.deepEqual(client.received, []);
});

test('drops stray output of an upstream, and logs its start', async t => {
	const {client, upstream, entries} = start();
	upstream.sendText(`Server listening on \u001b[1m80${'.'.repeat(500)}`);
	upstream.send({id: 1, result: {}});
	t.deepEqual(client.received, [{jsonrpc: '2.0', id: 1, result: {}}]);
	const [entry, ...rest] = await entries();
	t.like(entry, {event: 'child.stdout.garbage', side: 'files', level: 40});
	t.is(String(entry?.start).length, 200);
	t.deepEqual(rest, []);
});

test('fails a call whose response is over the limit', async t => {
	const {client, upstream, entries} = start(1000);
	upstream.sayEnvelope(
		Envelope.tooLarge(Buffer.from('{"id":3'), {id: '3', isResponse: true}, upstream.origin),
	);
	t.like(client.received[0], {id: 3, error: {code: -31_007, data: {limit: 1000}}});
	t.like(await entries(), [{event: 'frame.too_large', side: 'files'}]);
});

test('drops a message over the limit without an id', async t => {
	const {client, upstream, entries} = start();
	upstream.sayEnvelope(
		Envelope.tooLarge(Buffer.from('{"method"'), {id: undefined, isResponse: false}, upstream.origin),
	);
	t.deepEqual(client.received, []);
	t.like(await entries(), [{event: 'frame.too_large'}]);
});

test('rejects a request that also has a result', t => {
	const {client} = start();
	client.sendText('{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}');
	t.like(client.received, [{id: 1, error: {code: -32_600}}]);
});

test('does not reply to a response over the limit', t => {
	const {client} = start();
	client.sayEnvelope(Envelope.tooLarge(Buffer.from('{"id":1'), {id: '1', isResponse: true}, client.origin));
	t.deepEqual(client.received, []);
});

test('does not fail a call for a server request over the limit or a log line with the same id', t => {
	const {client, upstream} = start();
	upstream.sayEnvelope(
		Envelope.tooLarge(Buffer.from('{"id":1'), {id: '1', isResponse: false}, upstream.origin),
	);
	upstream.sendText('{"level":30,"id":1,"msg":"handling"}');
	t.deepEqual(client.received, []);
});

test('redacts secrets in the log of invalid messages', async t => {
	const {client, upstream, entries} = start();
	client.sendText('{"id":1,"method":"login","params":{"password":"hunter2"}}');
	client.sendText('{"jsonrpc":"2.0","params":{"access_token":"hunter2');
	upstream.sendText('Authorization: Bearer hunter2');
	t.is((await entries()).length, 3);
	t.false(JSON.stringify(await entries()).includes('hunter2'));
});

const LONG = 'x'.repeat(5000);

for (const [word, message] of [
	['id', {id: LONG, method: 'roots/list'}],
	['method', {id: 1, method: LONG}],
] as const)
	test(`sends the upstream an error for a request whose ${word} is too long [SEC-D5]`, t => {
		const {client, upstream} = start(2 ** 20);
		upstream.send(message);
		t.deepEqual(client.received, []);
		t.like(upstream.received, [{id: message.id, error: {data: {limit: 4096}}}]);
		upstream.sendText(`[${JSON.stringify({jsonrpc: '2.0', ...message})},{"jsonrpc":"2.0","method":"n"}]`);
		t.is(upstream.received.length, 2);
		t.like(client.received, [{method: 'n'}]);
	});

test('logs a notification whose method is too long, and forwards a response with a long id [SEC-D5]', async t => {
	const {client, upstream, entries} = start(2 ** 20);
	upstream.send({method: LONG});
	upstream.send({id: LONG, result: {}});
	t.like(client.received, [{id: LONG, result: {}}]);
	t.is(client.received.length, 1);
	t.deepEqual(upstream.received, []);
	t.like(await entries(), [{event: 'child.stdout.garbage'}]);
});
