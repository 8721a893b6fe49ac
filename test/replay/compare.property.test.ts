import test from 'ava';
import fc from 'fast-check';
import {type ComparisonRules, findDifferences} from '../../lib/replay/compare.js';
import {formatPointer, parsePointer} from '../../lib/replay/json-pointer.js';

const strict: ComparisonRules = {ignored: [], isStrict: true};
const defaultRules: ComparisonRules = {ignored: [], isStrict: false};

/** JSON has no -0. */
const json = fc.jsonValue().map(value => JSON.parse(JSON.stringify(value)) as unknown);
const wild = fc.oneof(
	json,
	fc.array(fc.record({name: fc.string(), value: json}), {maxLength: 5}),
	fc.dictionary(fc.constantFrom('__proto__', 'constructor', 'token', 'a/b', 'a~b', '', '0'), json),
);

test('finds no differences in a copy', t => {
	fc.assert(
		fc.property(wild, value => {
			t.deepEqual(findDifferences(value, structuredClone(value), strict), []);
		}),
	);
	t.pass();
});

test('finds the differences of any two values, except ignored ones', t => {
	fc.assert(
		fc.property(wild, wild, (one, other) => {
			const found = findDifferences({one}, {one: other}, strict);
			const isSame = JSON.stringify(one) === JSON.stringify(other);
			if (isSame) t.deepEqual(found, []);
			const ignored = found.map(({path}) => parsePointer(formatPointer(path)) ?? []);
			t.deepEqual(findDifferences({one}, {one: other}, {ignored, isStrict: true}), []);
			t.true(findDifferences({one}, {one: other}, defaultRules).length <= found.length);
		}),
	);
});

test('finds a changed member at its path', t => {
	fc.assert(
		fc.property(fc.string(), fc.string(), wild, (name, inner, value) => {
			fc.pre(name !== '__proto__' && inner !== '__proto__');
			const found = findDifferences({[name]: {[inner]: 1, value}}, {[name]: {[inner]: 2, value}}, strict);
			// If both members have the same name, there is no difference.
			if (inner !== 'value') t.deepEqual(found, [{path: [name, inner], recorded: 1, live: 2}]);
		}),
	);
	t.pass();
});

test('reports an inserted item of a named list as one difference', t => {
	const [a, b, c] = ['a', 'b', 'c'].map(name => ({name, is: 1}));
	t.deepEqual(findDifferences({tools: [a, c]}, {tools: [a, b, c]}, strict), [
		{path: ['tools', ['b', '1']], recorded: undefined, live: b},
	]);
	t.is(findDifferences({tools: [a, c]}, {tools: [c, a]}, strict).length, 1);
	const ignored = [parsePointer('/tools/*/is') ?? [], parsePointer('/tools/c') ?? []];
	t.deepEqual(findDifferences({tools: [a, c]}, {tools: [{...a, is: 2}]}, {ignored, isStrict: true}), []);
});

test('ignores different times, ids and tokens unless strict', t => {
	const pairs = [
		['at 2026-11-16T01:02:03Z', 'at 2025-01-01T11:12:13.5+01:00'],
		['0d1f2a3b-1111-4222-8333-444455556666', '9d1f2a3b-aaaa-4bbb-8ccc-ddddeeeeffff'],
		['created at 12:03:48 PM', 'created at 1:02:03 AM'],
		[
			Buffer.from('blob at 12:03:48 PM').toString('base64'),
			Buffer.from('blob at 12:04:49 AM').toString('base64'),
		],
		['Mon, 16 Nov 2026 01:02:03 GMT', 'Tue, 17 Nov 2026 11:12:13 GMT'],
	];
	for (const [one, other] of pairs) {
		t.deepEqual(findDifferences({text: one}, {text: other}, defaultRules), [], one);
		t.is(findDifferences({text: one}, {text: other}, strict).length, 1, one);
	}
	t.deepEqual(
		findDifferences({nextCursor: 'a', lastUpdatedAt: 1}, {nextCursor: 'b', lastUpdatedAt: 2}, defaultRules),
		[],
	);
	t.is(findDifferences({nextCursor: 'a'}, {}, defaultRules).length, 1);
	t.is(findDifferences({text: 'one'}, {text: 'two'}, defaultRules).length, 1);
});

test('treats a redacted secret as equal to any value', t => {
	t.deepEqual(findDifferences({Token: '[redacted]'}, {Token: {a: 1}}, strict), []);
	t.is(findDifferences({text: '[redacted]'}, {text: 'x'}, strict).length, 1);
	t.is(findDifferences({token: '[redacted]'}, {}, strict).length, 0);
});
