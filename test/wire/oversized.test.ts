import test from 'ava';
import fc from 'fast-check';
import {describeOversized} from '../../lib/wire/oversized.js';
import {numberText, space, stringText} from './arbitraries.js';

const none = Buffer.alloc(0);

const atStart = (text: string | Buffer): string | undefined => describeOversized(Buffer.from(text), none).id;
const atEnd = (text: string | Buffer): string | undefined => describeOversized(none, Buffer.from(text)).id;

test('finds an id at the start, before or after jsonrpc and method [A2]', t => {
	t.is(atStart('{"id":7,"jsonrpc":"2.0","params":{"a":"xxx'), '7');
	t.is(atStart('{"jsonrpc":"2.0","id":"a","params":{"a":"xxx'), '"a"');
	t.is(atStart('{"method":"a","jsonrpc":"2.0","id":-1.5e3,"result":"xxx'), '-1.5e3');
});

test('finds an id at the end, before or after jsonrpc and method [A2]', t => {
	t.is(atEnd('xxx"},"id":7}\n'), '7');
	t.is(atEnd('xxx"}],"id":"a","jsonrpc":"2.0"}'), '"a"');
	t.is(atEnd('xxx,"id":1.0,"method":"a","jsonrpc":"2.0"}\r\n'), '1.0');
});

test('finds an id with any white space and keeps its spelling [A2]', t => {
	fc.assert(
		fc.property(fc.oneof(numberText, stringText), space, space, (id, a, b) => {
			t.is(atStart(`${a}{${b}"jsonrpc"${a}:${b}"2.0"${a},${b}"id"${b}:${a}${id}${b},"params":"x`), id);
			t.is(atEnd(`x"${a},${b}"id"${b}:${a}${id}${b},${a}"method"${a}:${b}"m"${b}}${a}`), id);
		}),
		{numRuns: 500},
	);
});

test('ignores ids of nested objects [A2]', t => {
	t.is(atStart('{"params":{"id":7,"a":"xxx'), undefined);
	t.is(atStart('{"jsonrpc":"2.0","params":{"id":7,"a":"xxx'), undefined);
	t.is(atEnd('xxx","id":7}}'), undefined);
	t.is(atEnd('xxx","id":7}]}'), undefined);
	t.is(atEnd('xxx,\\"id\\":7}"}'), undefined);
	t.is(atEnd('xxx,"id":7},"method":"a"}'), undefined);
});

test('ignores a truncated id [A2]', t => {
	t.is(atStart('{"jsonrpc":"2.0","id":123'), undefined);
	t.is(atStart('{"jsonrpc":"2.0","id":"abc'), undefined);
	t.is(atEnd('23,"jsonrpc":"2.0"}'), undefined);
});

for (const id of ['null', 'true', '{}', '[1]', '{"id":1}'])
	test(`ignores the id ${id} [A9]`, t => {
		t.is(atStart(`{"jsonrpc":"2.0","id":${id},"params":"x`), undefined);
		t.is(atEnd(`x","id":${id}}`), undefined);
	});

for (const id of [
	'1-2',
	'01',
	'1.',
	'1e',
	'1.2.3',
	'--1',
	'-',
	'"\\q"',
	'"\\u12"',
	'"a\nb"',
	'"a\0b"',
	'"\\x41"',
])
	test(`ignores the id ${JSON.stringify(id)}, which is not valid JSON [A2]`, t => {
		t.is(atStart(`{"jsonrpc":"2.0","id":${id},"params":"x`), undefined);
		t.is(atEnd(`x","id":${id}}`), undefined);
	});

test('ignores an id with bytes that are not UTF-8 [A6]', t => {
	t.is(atStart(Buffer.from('{"jsonrpc":"2.0","id":"a\xff","params":"x', 'latin1')), undefined);
	t.is(atEnd(Buffer.from('x","id":"a\xff"}', 'latin1')), undefined);
});

test('finds an id despite invalid UTF-8 elsewhere, such as a truncated character [A6]', t => {
	t.is(
		atStart(Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":7,"params":"'), Buffer.of(0xf0, 0x9f)])),
		'7',
	);
	t.is(atEnd(Buffer.concat([Buffer.of(0x98, 0x80), Buffer.from('x","id":7}')])), '7');
});

test('returns only JSON strings and numbers as ids [A2]', t => {
	const junk = fc.string({
		unit: fc.constantFrom(...'"\\0123456789.eE+-unq\n \0é'),
		minLength: 1,
		maxLength: 8,
	});
	fc.assert(
		fc.property(
			fc.oneof(
				junk,
				junk.map(text => `"${text}"`),
			),
			text => {
				for (const id of [atStart(`{"id":${text},"params":"x`), atEnd(`x","id":${text}}`)])
					if (id !== undefined) t.true(['string', 'number'].includes(typeof JSON.parse(id)));
			},
		),
		{numRuns: 3000},
	);
});

test('searches hostile input of four kilobytes quickly [A2]', t => {
	const started = performance.now();
	for (const hostile of [
		',"id":"'.repeat(600),
		',"id":1'.repeat(600),
		',"id":1,"method":""'.repeat(220),
		' '.repeat(4096),
	])
		t.is(atEnd(`${hostile}x`), undefined);
	t.true(performance.now() - started < 2000);
});

for (const [start, isResponse] of [
	['{"jsonrpc":"2.0","id":1,"result":{"a', true],
	['{"id":"x","jsonrpc":"2.0","error":{"a', true],
	['{"result":["a', true],
	['{"jsonrpc":"2.0","method":"a","params":{"result":1', false],
	['{"id":1,"params":{"a', false],
	['{"other":{"result":{"a', false],
] as const)
	test(`${isResponse ? 'recognizes' : 'does not recognize'} ${start}… as a response`, t => {
		t.is(describeOversized(Buffer.from(start), none).isResponse, isResponse);
	});
