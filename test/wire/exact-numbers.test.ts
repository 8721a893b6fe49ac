import test from 'ava';
import fc from 'fast-check';
import {ExactNumbers} from '../../lib/wire/exact-numbers.js';

const throughParser = (json: string): string => {
	const exact = new ExactNumbers(json);
	return exact.write(JSON.parse(exact.json));
};

test('numbers come back as they were written', t => {
	for (const json of ['[1.0,1e3,-0,12345678901234567890,0.10,7]', '{"a":{"b":1.50}}', '-0.0'])
		t.is(throughParser(json), json);
});

test('strings that look like numbers, or have escapes, stay what they are', t => {
	for (const json of ['["1.0",1.0]', '["a\\\\",1.0,"\\"1.0\\""]', '{"1.0":1.0}'])
		t.is(throughParser(json), json);
});

test('a message that has such strings as hide numbers is left as a parser makes it', t => {
	const json = '["\\u0000number 0",1.0]';
	t.is(throughParser(json), '["\\u0000number 0",1]');
});

test('a number can be moved with what it stands in', t => {
	const exact = new ExactNumbers('{"a":[1.0,2.50],"b":"x"}');
	const {a, b} = JSON.parse(exact.json);
	t.is(exact.write({b, c: {d: a}}), '{"b":"x","c":{"d":[1.0,2.50]}}');
});

test('any JSON comes back with its numbers', t => {
	const number = fc.stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{1,10})?([eE][+-]?\d{1,3})?$/);
	const text = fc.string().map(value => JSON.stringify(value));
	const property = fc.property(fc.array(fc.oneof(number, text)), items => {
		const json = `[${items.join(',')}]`;
		return throughParser(json) === json || json.includes('\\u0000number ');
	});
	t.notThrows(() => fc.assert(property, {numRuns: 500}));
});
