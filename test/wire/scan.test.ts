import test from 'ava';
import {ALL_MARKS} from '../../lib/wire/marks.js';
import {type Flaw, flawedHead, type MessageHead, scanMessage} from '../../lib/wire/scan.js';

const scanText = (text: string): MessageHead => scanMessage(Buffer.from(text));

const message = (members: string): string => `{"jsonrpc":"2.0",${members}}`;

const blankHead: MessageHead = {
	id: undefined,
	key: undefined,
	idStart: 0,
	method: undefined,
	hasResult: false,
	hasError: false,
	marks: 0,
	flaw: undefined,
};

test('recognizes a request by its id and method', t => {
	const head = scanText(message('"id":7,"method":"tools/call","params":{"name":"echo"}'));
	t.deepEqual(head, {...blankHead, id: '7', key: '7', idStart: 22, method: 'tools/call'});
});

test('recognizes a notification by its method', t => {
	t.deepEqual(scanText(message('"method":"a/b"')), {...blankHead, method: 'a/b'});
});

test('recognizes a response by its id and result', t => {
	const head = scanText(message('"id":"x","result":{}'));
	t.deepEqual(head, {...blankHead, id: '"x"', key: '"x"', idStart: 22, hasResult: true});
});

test('recognizes an error response by its id and error', t => {
	const head = scanText(message('"id":7,"error":{"code":1,"message":"no"}'));
	t.deepEqual(head, {...blankHead, id: '7', key: '7', idStart: 22, hasError: true});
});

for (const id of ['"id":null,', ''])
	test(`accepts an error response without an id (${id || 'no id'})`, t => {
		const {flaw, id: found} = scanText(message(`${id}"error":{"code":-32700,"message":"no"}`));
		t.deepEqual([flaw, found], [undefined, undefined]);
	});

test('decodes escapes in a method', t => {
	t.is(scanText(message('"method":"tools\\u002fcall"')).method, 'tools/call');
});

test('creates a head for a flaw, with the id if it is known', t => {
	t.deepEqual(flawedHead('too large', '1.0'), {
		...blankHead,
		id: '1.0',
		key: '1',
		marks: ALL_MARKS,
		flaw: 'too large',
	});
	t.deepEqual(flawedHead('not JSON'), {...blankHead, marks: ALL_MARKS, flaw: 'not JSON'});
});

test('ignores bytes behind the end of the message', t => {
	const text = message('"id":1,"method":"a"');
	t.is(scanMessage(Buffer.from(`${text}garbage`), text.length).flaw, undefined);
});

for (const text of ['{}', '{"a":1}', message('"method":"a"'), '[1]', '"text"', '{"a":{"b":{}}} '])
	test(`rejects ${text} if it is truncated, although the buffer continues`, t => {
		const bytes = Buffer.from(text);
		for (let end = 0; end < text.trimEnd().length; end++)
			t.is(scanMessage(bytes, end).flaw, 'not JSON', `${end}`);
	});

const flawed: ReadonlyArray<readonly [Flaw, readonly string[]]> = [
	[
		'not JSON',
		['', '{', '}', 'Listening on 80', '{"a":1}{"b":2}', "{'a':1}", '{"a":1,}', '{a:1}', '\ufeff{}', '{}x'],
	],
	['not an object', ['1', '"a"', 'null', 'true', ' -1.5e3 ']],
	['a batch', ['[]', '[{"jsonrpc":"2.0","method":"a"}]', ' [1, 2] ', '\t\r[null]', '[[]]']],
	['neither request nor response', [message('"a":1'), message('"id":1'), message('"id":1,"params":{}')]],
	[
		'neither request nor response',
		[message('"id":1,"method":5'), message('"method":null'), message('"result":1')],
	],
];

for (const [flaw, texts] of flawed)
	for (const text of texts)
		test(`rejects ${JSON.stringify(text)} as ${flaw}`, t => {
			t.is(scanText(text).flaw, flaw);
		});

const nested = (depth: number, inside: string): string => '['.repeat(depth) + inside + ']'.repeat(depth);

test('accepts a thousand levels, including the message [A4]', t => {
	t.is(scanText(message(`"id":1,"method":"a","params":${nested(999, '')}`)).flaw, undefined);
	t.is(scanText(message(`"id":1,"method":"a","params":${nested(999, '1')}`)).flaw, undefined);
});

for (const inside of ['', '1'])
	test(`rejects one more level and still finds the id (inside: ${inside || 'nothing'}) [A4]`, t => {
		const {flaw, id} = scanText(message(`"method":"a","params":${nested(1000, inside)},"id":5`));
		t.deepEqual([flaw, id], ['nested too deep', '5']);
	});

test('rejects a hundred thousand levels without an error [A4]', t => {
	t.is(scanText(message(`"id":1,"method":"a","params":${nested(100_000, '')}`)).flaw, 'nested too deep');
});

const invalidUtf8 = ['ff', 'c3', 'c328', 'eda080', 'f8888080', 'c080', 'e282', 'f09f98', '80'];

for (const hex of invalidUtf8)
	for (const padding of [0, 300])
		test(`rejects the bytes ${hex} in a ${padding ? 'long ' : ''}string [A6]`, t => {
			const [start, end] = [message('"id":1,"method":"@"').split('@')[0], '"}'] as const;
			const parts = [`${start}${'a'.repeat(padding)}`, Buffer.from(hex, 'hex'), end].map(part =>
				Buffer.from(part ?? ''),
			);
			t.deepEqual(scanMessage(Buffer.concat(parts)), flawedHead('not JSON'));
		});

test('rejects invalid UTF-8 in keys and params and after the method [A6]', t => {
	for (const members of ['"@":1', '"params":["@"]', '"params":{"@":1}', '"params":{"a":{"b":"@"}}']) {
		const [start = '', end = ''] = message(`"id":1,"method":"a",${members}`).split('@');
		t.is(
			scanMessage(Buffer.concat([Buffer.from(start), Buffer.from([0xff]), Buffer.from(end)])).flaw,
			'not JSON',
			members,
		);
	}
});

for (const [name, text] of Object.entries({
	'escaped lone surrogates': '"\\ud800 \\udfff"',
	'U+2028 and U+2029': '"\u2028\u2029"',
	'an escaped NUL': '"\\u0000"',
	'a character of four bytes': '"😀"',
	'a carriage return as white space': '[1,\r2]',
}))
	test(`accepts ${name} [A7]`, t => {
		t.is(scanText(message(`"id":1,"method":"a","params":{"x":${text}}`)).flaw, undefined);
	});

test('rejects an unescaped NUL [A7]', t => {
	t.is(scanText(message('"id":1,"method":"a\0"')).flaw, 'not JSON');
});

const ids = [
	'0',
	'1',
	'-1',
	'""',
	'"1"',
	'"a b"',
	'1.0',
	'1e3',
	'9007199254740993',
	'12345678901234567890',
	'"\\u0031"',
];

for (const id of ids)
	test(`keeps the spelling of the id ${id} [A8]`, t => {
		const text = message(`"method":"a","id" : ${id}`);
		const head = scanText(text);
		t.is(head.flaw, undefined);
		t.is(head.id, id);
		t.is(text.slice(head.idStart, head.idStart + id.length), id);
	});

test('distinguishes a number and the string that looks like it [A8]', t => {
	t.not(scanText(message('"method":"a","id":1')).key, scanText(message('"method":"a","id":"1"')).key);
});

for (const id of ['null', 'true', 'false', '{}', '{"a":1}', '[]', '[1]'])
	for (const rest of ['"method":"a"', '"result":1'])
		test(`rejects the id ${id} with ${rest} and does not return it [A9]`, t => {
			const head = scanText(message(`"id":${id},${rest}`));
			t.deepEqual([head.flaw, head.id, head.key], ['an id of the wrong type', undefined, undefined]);
		});

const spellings = {id: '"\\u0069d":1', method: '"m\\u0065thod":"b"', params: '"param\\u0073":{}'};

for (const [name, escaped] of Object.entries(spellings)) {
	const plain = JSON.stringify({id: 1, method: 'b', params: {}}[name]);
	for (const again of [`"${name}":${plain}`, escaped])
		test(`rejects a repeated ${name}, also with escapes: ${again} [A14]`, t => {
			const members = '"id":1,"method":"tools/list","params":{}';
			t.is(scanText(message(`${members},${again}`)).flaw, 'a repeated key');
			t.is(scanText(message(`${again},${members}`)).flaw, 'a repeated key');
		});
}

for (const name of ['"name"', '"n\\u0061me"'])
	test(`rejects a second ${name} in params [A14]`, t => {
		const params = `{"name":"read","arguments":{},${name}:"write"}`;
		t.is(scanText(message(`"id":1,"method":"tools/call","params":${params}`)).flaw, 'a repeated key');
	});

test('accepts repeated names below params [A14]', t => {
	for (const params of [
		'{"arguments":{"name":1,"name":2}}',
		'[{"name":1,"name":2}]',
		'{"name":1,"a":{"name":2}}',
	])
		t.is(scanText(message(`"id":1,"method":"a","params":${params}`)).flaw, undefined, params);
});

test('distinguishes keys by upper and lower case [A14]', t => {
	const head = scanText(
		message('"id":1,"method":"tools/list","Method":"tools/call","ID":2,"params":{"name":1,"Name":2}'),
	);
	t.deepEqual([head.flaw, head.method, head.id], [undefined, 'tools/list', '1']);
	t.is(scanText(message('"id":1,"Method":"tools/call"')).flaw, 'neither request nor response');
});

test('does not match keys by prefix [A14]', t => {
	const head = scanText(message('"i":1,"idx":2,"methods":"a","metho":"b","id":3,"method":"c"'));
	t.deepEqual([head.flaw, head.method, head.id], [undefined, 'c', '3']);
});

for (const version of [
	'"1.0"',
	'"2"',
	'"2.00"',
	'"3.0"',
	'2.0',
	'2',
	'null',
	'["2"]',
	'12.03',
	'-2.05',
	'{"2.0":1}',
])
	test(`rejects the version ${version} [A17]`, t => {
		t.is(scanText(`{"jsonrpc":${version},"id":1,"method":"a"}`).flaw, 'not JSON-RPC 2.0');
	});

test('rejects a message without a version and still finds the id [A17]', t => {
	const {flaw, id} = scanText('{"id":1,"method":"a"}');
	t.deepEqual([flaw, id], ['not JSON-RPC 2.0', '1']);
});

for (const members of ['"result":1,"error":{}', '"method":"a","result":1', '"method":"a","error":{}'])
	test(`rejects a message with ${members} [A17]`, t => {
		t.is(scanText(message(`"id":1,${members}`)).flaw, 'neither request nor response');
	});
