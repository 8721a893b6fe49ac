import test from 'ava';
import fc from 'fast-check';
import {parseWithBigInts, stringifyWithBigInts} from '../../lib/wire/bigint-json.js';

/** JSON values that may contain integers that a double would round. */
const values = fc.letrec(tie => ({
	value: fc.oneof(
		{depthSize: 'small'},
		fc.jsonValue({maxDepth: 0}),
		fc.bigInt({min: 2n ** 53n, max: 2n ** 80n}),
		fc.bigInt({min: -(2n ** 80n), max: -(2n ** 53n)}),
		fc.stringMatching(/^[-"\\0-9]{0,40}$/),
		fc.array(tie('value')),
		fc.dictionary(fc.string(), tie('value'), {noNullPrototype: true}),
	),
})).value;

test('round-trips values with long integers [A-D1]', t => {
	fc.assert(
		fc.property(values, value => {
			const json = stringifyWithBigInts(value);
			t.deepEqual(stringifyWithBigInts(parseWithBigInts(json)), json);
		}),
	);
});

test('parses JSON without long integers like JSON.parse [A-D1]', t => {
	fc.assert(
		fc.property(fc.jsonValue(), value => {
			const json = JSON.stringify(value);
			fc.pre(!/\d{16}/.test(json));
			t.deepEqual(parseWithBigInts(json), JSON.parse(json));
			t.is(stringifyWithBigInts(value), json);
		}),
	);
});

test('parses only integers that a double would round as bigints [A-D1]', t => {
	t.deepEqual(
		parseWithBigInts(
			'[9007199254740991,9007199254740992,-9223372036854775808,1.2345678901234567,1e22,"9007199254740993"]',
		),
		[9007199254740991, 9007199254740992n, -(2n ** 63n), 1.2345678901234567, 1e22, '9007199254740993'],
	);
});

test('rejects integers that take too long to parse [A-D1]', t => {
	t.is(parseWithBigInts('9'.repeat(4300)), BigInt('9'.repeat(4300)));
	const many = (count: number): string => `[${Array(count).fill('9007199254740993').join()}]`;
	t.is((parseWithBigInts(many(65_536)) as unknown[])[65_535], 9007199254740993n);
	t.throws(() => parseWithBigInts(many(65_537)), {message: 'More than 65536 integers are beyond 2^53.'});
	t.throws(() => parseWithBigInts(`[${'9'.repeat(4301)}]`), {
		message: 'An integer has more than 4300 digits.',
	});
});

test('throws for a value that JSON.stringify rejects [A-D1]', t => {
	const circle: unknown[] = [1n];
	circle.push(circle);
	t.throws(() => stringifyWithBigInts(circle), {instanceOf: TypeError});
});
