import test from 'ava';
import type {Message} from '../../helpers/bridge.js';
import {
	answersTo,
	errorOf,
	heardBy,
	isAllRpc,
	logged,
	type Puppet,
	sharePuppet,
	startPuppet,
	until,
} from '../../helpers/program.js';

const deep = (levels: number, id: number): string =>
	`{"jsonrpc":"2.0","id":${id},"method":"echo","params":{"x":${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}}}`;

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Invalid lines of a client, with the code and the id of the error that bridge returns. */
const invalid: ReadonlyArray<readonly [title: string, line: string | Buffer, code: number, id: string]> = [
	['words', 'this is not JSON', -32700, 'null'],
	['half a message', '{"jsonrpc":"2.0","id":1,"method":"echo"', -32700, 'null'],
	['two messages on a line', '{"jsonrpc":"2.0","id":1,"method":"echo"}{"jsonrpc":"2.0"}', -32700, 'null'],
	['a trailing comma', '{"jsonrpc":"2.0","id":1,"method":"echo",}', -32700, 'null'],
	['single quotes', "{'jsonrpc':'2.0'}", -32700, 'null'],
	['a control character in a string', '{"jsonrpc":"2.0","id":1,"method":"e\u0001"}', -32700, 'null'],
	['a number with a leading zero', '{"jsonrpc":"2.0","id":01,"method":"echo"}', -32700, 'null'],
	['NaN', '{"jsonrpc":"2.0","id":1,"method":"echo","params":NaN}', -32700, 'null'],
	[
		'an invalid byte',
		latin1('{"jsonrpc":"2.0","id":1,"method":"echo","params":{"x":"\xff"}}'),
		-32700,
		'null',
	],
	[
		'an overlong UTF-8 sequence',
		latin1('{"jsonrpc":"2.0","id":1,"method":"echo","params":"\xc0\xaf"}'),
		-32700,
		'null',
	],
	[
		'an encoded surrogate',
		latin1('{"jsonrpc":"2.0","id":1,"method":"echo","params":"\xed\xa0\x80"}'),
		-32700,
		'null',
	],
	[
		'a truncated UTF-8 sequence',
		latin1('{"jsonrpc":"2.0","id":1,"method":"echo","params":"\xc3"}'),
		-32700,
		'null',
	],
	['a number', '42', -32600, 'null'],
	['a string', '"ping"', -32600, 'null'],
	['null', 'null', -32600, 'null'],
	['an empty object', '{}', -32600, 'null'],
	['no method', '{"jsonrpc":"2.0","id":5}', -32600, '5'],
	['a method that is a number', '{"jsonrpc":"2.0","id":"m","method":7}', -32600, '"m"'],
	['no version', '{"id":6,"method":"echo"}', -32600, '6'],
	['version 1.0', '{"jsonrpc":"1.0","id":7,"method":"echo"}', -32600, '7'],
	['a version that is a number', '{"jsonrpc":2.0,"id":8,"method":"echo"}', -32600, '8'],
	['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"echo"}', -32600, 'null'],
	['an id that is true', '{"jsonrpc":"2.0","id":true,"method":"echo"}', -32600, 'null'],
	['an id that is an object', '{"jsonrpc":"2.0","id":{"a":1},"method":"echo"}', -32600, 'null'],
	['an id that is an array', '{"jsonrpc":"2.0","id":[1],"method":"echo"}', -32600, 'null'],
	['a duplicate method', '{"jsonrpc":"2.0","id":9,"method":"echo","method":"exit"}', -32600, '9'],
	[
		'a duplicate method with an escape',
		'{"jsonrpc":"2.0","id":9,"method":"echo","\\u006dethod":"exit"}',
		-32600,
		'9',
	],
	[
		'duplicate params',
		'{"jsonrpc":"2.0","id":10,"method":"echo","params":{},"params":{"a":1}}',
		-32600,
		'10',
	],
	[
		'a duplicate name in params',
		'{"jsonrpc":"2.0","id":11,"method":"echo","params":{"name":"a","name":"b"}}',
		-32600,
		'11',
	],
	['1001 levels of nesting', deep(1001, 12), -32600, '12'],
	['100,000 levels of nesting', deep(100_000, 13), -32600, '13'],
];

const shared = sharePuppet();

for (const [title, line, code, id] of invalid)
	test.serial(
		`rejects ${title} from the client with ${code} and id ${id}, and forwards the next call`,
		async t => {
			const {bridge} = shared();
			const before = await heardBy(shared());
			const {length} = bridge.lines;
			const warnings = logged(bridge, 'client.message.refused').length;
			bridge.sendText(Buffer.concat([Buffer.from(line), Buffer.from('\n')]));
			// The only new line is the first `heardBy` request.
			t.is((await heardBy(shared())).length, before.length + 1);
			t.is(bridge.lines.length, length + 2);
			const reply = bridge.lines[length] ?? '';
			t.is(errorOf(JSON.parse(reply)).code, code);
			t.like(errorOf(JSON.parse(reply)).data, {source: 'bridge'});
			t.true(reply.includes(`"id":${id},`), reply);
			t.true(isAllRpc(bridge.lines));
			await until(() => logged(bridge, 'client.message.refused').length === warnings + 1);
		},
	);

test.serial('rejects a request with duplicate ids with -32600 [A14]', async t => {
	const {bridge} = await startPuppet(t);
	bridge.sendText('{"jsonrpc":"2.0","id":1,"method":"echo","id":2}\n');
	t.is(errorOf(await bridge.message(({error}) => error !== undefined)).code, -32600);
	t.is(await bridge.end(), 0);
});

test.serial('drops a response of the client with both result and error, with a warning [A17]', async t => {
	const {bridge} = await startPuppet(t);
	bridge.sendText('{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}\n');
	const {result} = await bridge.request('next', 'heard');
	// Both lines of the handshake, and this request.
	t.is((result as {lines: string[]}).lines.length, 3);
	t.is(await bridge.end(), 0);
	t.is(logged(bridge, 'client.message.refused').length, 1);
});

/** Lines that are forwarded byte for byte. */
const passing: ReadonlyArray<readonly [title: string, line: string]> = [
	['1000 levels of nesting', deep(1000, 1)],
	['escaped lone surrogates', '{"jsonrpc":"2.0","id":1,"method":"echo","params":{"x":"\\ud800 \\udfff"}}'],
	['an escaped NUL', '{"jsonrpc":"2.0","id":1,"method":"echo","params":{"x":"\\u0000"}}'],
	['U+2028 and U+2029', '{"jsonrpc":"2.0","id":1,"method":"echo","params":{"x":"\u2028\u2029"}}'],
	[
		'numbers that JSON.parse changes',
		'{"jsonrpc":"2.0","id":1,"method":"echo","params":[9007199254740993,1.0,1e400,-0]}',
	],
	['unusual white space', '{ "jsonrpc" :"2.0",\t"id":1 , "method": "echo"  ,"params":{}}'],
	['another order of keys', '{"params":{},"method":"echo","id":1,"jsonrpc":"2.0"}'],
	['keys in a different case', '{"jsonrpc":"2.0","id":1,"method":"echo","Method":"exit","ID":2,"params":{}}'],
	[
		'a duplicate name at a deeper level',
		'{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":{"name":1,"name":2}}}',
	],
	[
		'__proto__',
		'{"jsonrpc":"2.0","id":1,"method":"echo","params":{"__proto__":{"polluted":1},"constructor":{"prototype":{"a":1}}}}',
	],
	['unknown members', '{"jsonrpc":"2.0","id":1,"method":"echo","extra":[1,2],"params":{}}'],
];

for (const [title, line] of passing)
	test.serial(`forwards ${title} from the client unchanged`, async t => {
		const {bridge} = shared();
		const {length} = bridge.lines;
		bridge.sendText(`${line}\n`);
		await bridge.hasLines(length + 1);
		t.regex(bridge.lines[length] ?? '', /^\{"jsonrpc":"2\.0","id":1,"result":/);
		t.is((await heardBy(shared())).at(-1), line);
	});

test.serial(
	'treats __proto__ in a call and its result as data, also in the trace and the log [A15]',
	async t => {
		const {bridge} = await startPuppet(t, [], ['--debug']);
		const params = '{"__proto__":{"polluted":1},"name":"x"}';
		bridge.sendText(`{"jsonrpc":"2.0","id":1,"method":"echo","params":${params}}\n`);
		await bridge.answer(1);
		t.true(bridge.lines[1]?.includes(params));
		t.is(await bridge.end(), 0);
	},
);

test.serial(
	'accepts a byte order mark, CRLF, blank lines, single bytes and a missing last line end [A1]',
	async t => {
		const {bridge} = await startPuppet(t);
		for (const byte of Buffer.from('\r\n \n{"jsonrpc":"2.0","id":1,"method":"echo","params":{"x":"é"}}\r\n'))
			bridge.sendText(Uint8Array.of(byte));
		t.like(await bridge.answer(1), {result: {x: 'é'}});
		bridge.sendText('{"jsonrpc":"2.0","id":2,"method":"echo","params":{"x":"last"}}');
		t.is(await bridge.end(), 0);
		t.like(answersTo(bridge, 2), [{result: {x: 'last'}}]);
	},
);

const sendWithHeldId = async ({bridge}: Puppet, line: string): Promise<Message> => {
	bridge.sendText('{"jsonrpc":"2.0","id":1,"method":"hold"}\n');
	bridge.sendText(`${line}\n`);
	return bridge.message(({error}) => error !== undefined);
};

test.serial(
	'rejects a request whose id is pending with -32600 and does not affect the first one [A10]',
	async t => {
		const puppet = await startPuppet(t);
		const {bridge} = puppet;
		const rejection = await sendWithHeldId(puppet, '{"jsonrpc":"2.0","id":1,"method":"echo"}');
		t.is(errorOf(rejection).code, -32600);
		t.is(rejection.id, 1);
		t.like(await bridge.request(2, 'held'), {result: {count: 1}});
		await bridge.request(3, 'release');
		t.deepEqual(
			answersTo(bridge, 1).map(({result}) => result),
			[undefined, {was: 1}],
		);
		t.like(await bridge.request(1, 'echo', {again: true}), {error: {code: -32600}});
		t.is(await bridge.end(), 0);
		t.deepEqual(answersTo(bridge, 1).at(-1)?.result, {again: true});
	},
);
