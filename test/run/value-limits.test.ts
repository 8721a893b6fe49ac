import test from 'ava';
import fc from 'fast-check';
import {checkValue, MAX_NESTING} from '../../lib/run/value-limits.js';
import {jsonComplexity} from '../../lib/wire/json-complexity.js';

const countOf = (value: unknown): number =>
	typeof value === 'object' && value !== null
		? 1 + Object.values(value).reduce<number>((sum, item) => sum + countOf(item), 0)
		: 1;

const membersOf = (value: unknown): number => {
	if (typeof value !== 'object' || value === null) return 0;
	const items: unknown[] = Object.values(value);
	return items.reduce<number>((sum, item) => sum + membersOf(item), Array.isArray(value) ? 0 : items.length);
};

const depthOf = (value: unknown): number =>
	typeof value === 'object' && value !== null
		? 1 + Object.values(value).reduce<number>((deepest, item) => Math.max(deepest, depthOf(item)), 0)
		: 0;

const complexityOf = (text: string) => jsonComplexity(Buffer.from(text));

test('counts depth and members of JSON exactly, and values by at most a factor of two [SEC-D2]', t => {
	fc.assert(
		fc.property(fc.jsonValue(), fc.nat(2), (value, indent) => {
			const {values, members, depth} = complexityOf(JSON.stringify(value, null, indent));
			const parsed: unknown = JSON.parse(JSON.stringify(value));
			const count = countOf(parsed);
			t.is(members, membersOf(parsed));
			t.is(depth, depthOf(value));
			t.true(values >= count && values <= 2 * count);
		}),
	);
});

test('computes the complexity of arbitrary bytes [SEC-D2]', t => {
	fc.assert(
		fc.property(fc.uint8Array({maxLength: 200}), bytes => {
			const {values, depth} = jsonComplexity(bytes);
			t.true(values >= 1 && values <= bytes.length + 1 && depth <= bytes.length);
		}),
	);
	t.deepEqual(complexityOf(`"${'\\"'.repeat(1000)}[[[,,,`), {values: 1, members: 0, depth: 0});
	t.deepEqual(complexityOf(`["${'\\\\'.repeat(1000)}",[]]`), {values: 4, members: 0, depth: 2});
});

const check = (value: unknown, maxBytes: number, maxValues = Number.POSITIVE_INFINITY): void =>
	checkValue(value, {maxBytes, maxValues}, 'It');

test('accepts a value within the limits [SEC-D2]', t => {
	fc.assert(
		fc.property(fc.jsonValue(), value => {
			// The outermost value has no comma.
			check(value, Buffer.byteLength(JSON.stringify(value)) + 1, countOf(value));
		}),
	);
	t.pass();
});

test('rejects a value that is too long, too deep or has too many values [SEC-D2]', t => {
	let shared: unknown = [1, 1];
	for (let times = 0; times < 100; times++) shared = {left: shared, right: shared};
	t.throws(() => check(shared, 1_000_000), {message: 'It has more than 1000000 bytes.'});
	t.throws(() => check(shared, Number.POSITIVE_INFINITY, 1000), {message: 'It has more than 1000 values.'});
	t.throws(() => check('x'.repeat(1000), 1000), {message: 'It has more than 1000 bytes.'});
	let deep: unknown = [];
	for (let times = 0; times < 100_000; times++) deep = [deep];
	t.throws(() => check(deep, 1_000_000), {message: 'It is nested too deeply.'});
	t.true(MAX_NESTING < 1000);
});
