import test from 'ava';
import fc from 'fast-check';
import {ExactNumbers} from '../../lib/wire/exact-numbers.js';

const roundTrip = (json: string): string => {
	const exact = new ExactNumbers();
	return exact.stringify(exact.parse(json));
};

test('keeps the spelling of numbers', t => {
	for (const json of ['[1.0,1e3,-0,12345678901234567890,0.10,7]', '{"a":{"b":1.50}}', '-0.0'])
		t.is(roundTrip(json), json);
});

test('does not change strings that look like numbers or have escapes', t => {
	for (const json of ['["1.0",1.0]', '["a\\\\",1.0,"\\"1.0\\""]', '{"1.0":1.0}']) t.is(roundTrip(json), json);
});

test('keeps the spelling of numbers in a value that is moved', t => {
	const exact = new ExactNumbers();
	const {a, b} = exact.parse('{"a":[1.0,2.50],"b":"x"}') as {a: unknown; b: unknown};
	t.is(exact.stringify({b, c: {d: a}}), '{"b":"x","c":{"d":[1.0,2.50]}}');
});

test('restores numbers inside of texts', t => {
	const exact = new ExactNumbers();
	const {n} = exact.parse('{"n":20.0}') as {n: unknown};
	t.is(
		exact.stringify({text: `${n} bytes`, json: JSON.stringify({n})}),
		'{"text":"20.0 bytes","json":"{\\"n\\":20.0}"}',
	);
});

test('combines several parsed values into one message', t => {
	const exact = new ExactNumbers();
	const [one, other] = [exact.parse('[1.0]'), exact.parse('[2.0]')];
	t.is(
		exact.stringify({one, other, id: exact.raw('9007199254740993')}),
		'{"one":[1.0],"other":[2.0],"id":9007199254740993}',
	);
});

test('keeps the spelling of numbers in any JSON', t => {
	const number = fc.stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{1,10})?([eE][+-]?\d{1,3})?$/);
	const text = fc.string().map(value => JSON.stringify(value));
	const property = fc.property(fc.array(fc.oneof(number, text)), items => {
		const json = `[${items.join(',')}]`;
		return roundTrip(json) === json;
	});
	t.notThrows(() => fc.assert(property, {numRuns: 500}));
});

test('parses strings of 32 MB of escapes [SEC-D11]', t => {
	const json = `{"text":"${'\\n'.repeat(2 ** 24)}","n":1.0}`;
	t.is(roundTrip(json).length, json.length);
	const quotes = `["${'\\"'.repeat(2 ** 22)}","${'\\\\'.repeat(2 ** 22)}",1.0]`;
	t.true(roundTrip(quotes) === quotes);
});

const repeated = (count: number, token: string): string => Array.from({length: count}, () => token).join();

test('keeps the spelling of 100,000 numbers', t => {
	const json = `[${repeated(100_000, '1.0')}]`;
	t.true(roundTrip(json) === json);
});

test('keeps only integers if there are more numbers [SEC-D11]', t => {
	const integer = '12345678901234567890';
	const json = `{"id":${integer},"a":[${repeated(100_000, '1.0')}],"b":[${integer},-0,1.50,"1.0"]}`;
	t.true(
		roundTrip(json) === `{"id":${integer},"a":[${repeated(100_000, '1')}],"b":[${integer},-0,1.5,"1.0"]}`,
	);
});

test('keeps only the id if there are more integers [SEC-D11]', t => {
	const [integer, rounded] = ['12345678901234567890', '12345678901234567000'];
	const json = `{"a":[${repeated(100_000, integer)}],"id":${integer}}`;
	t.true(roundTrip(json) === `{"a":[${repeated(100_000, rounded)}],"id":${integer}}`);
	const list = `[${repeated(100_001, integer)}]`;
	t.true(roundTrip(list) === `[${repeated(100_001, rounded)}]`);
	const text = `{"a":[${repeated(100_001, integer)}],"id":"1"}`;
	t.true(roundTrip(text).endsWith('"id":"1"}'));
});

test('applies the limit to several messages together [SEC-D11]', t => {
	const exact = new ExactNumbers();
	const one = exact.parse(`[${repeated(99_999, '1.0')}]`);
	const other = exact.parse('[2.0,3.0]');
	t.deepEqual(other, [2, 3]);
	const last = exact.parse('[4.0]');
	t.is(exact.stringify({last}), '{"last":[4.0]}');
	t.true(exact.stringify(one) === `[${repeated(99_999, '1.0')}]`);
});
