import test from 'ava';
import fc from 'fast-check';
import {restoreOriginals, withOriginals} from '../../lib/protocol/originals.js';
import {hasUnsupported, stripUnsupported} from '../../lib/protocol/plain-json.js';
import type {JsonObject} from '../../lib/util/json.js';
import {json, plainJson} from '../helpers/mcp-arbitrary/values.js';

const isPlain = (value: unknown): boolean => {
	if (typeof value === 'number') return Number.isInteger(value);
	if (typeof value !== 'object') return true;
	return value !== null && Object.values(value).every(isPlain);
};

test('strips any object to plain JSON that can be restored', t => {
	const property = fc.property(json.object, value => {
		const removed = new Map<string, unknown>();
		const stripped = stripUnsupported(value, '', removed);
		t.true(isPlain(stripped));
		const restored = restoreOriginals(
			removed.size > 0 ? withOriginals(stripped, removed) : stripped,
			() => true,
		);
		t.deepEqual(restored, value);
	});
	fc.assert(property);
});

test('returns an object that is plain already unchanged', t => {
	const property = fc.property(plainJson.object, value => {
		const removed = new Map<string, unknown>();
		t.is(stripUnsupported(value, '', removed), value);
		t.is(removed.size, 0);
	});
	fc.assert(property);
});

test('handles a member named __proto__ like any other', t => {
	const value = JSON.parse('{"__proto__":{"a":null,"b":1}}');
	const removed = new Map<string, unknown>();
	t.is(JSON.stringify(stripUnsupported(value, '', removed)), '{"__proto__":{"b":1}}');
	t.deepEqual([...removed], [['/__proto__/a', null]]);
});

const KIB = 1024;

const nulls = (count: number): JsonObject =>
	Object.fromEntries(Array.from({length: count}, (_, at) => [`x${at}`, null]));

test('stops recording removed values once their pointers exceed the limit for originals [SEC-D11]', t => {
	const long = new Map<string, unknown>();
	t.deepEqual(stripUnsupported({['k'.repeat(30 * KIB)]: nulls(10_000), a: 1}, '', long), {
		['k'.repeat(30 * KIB)]: {},
		a: 1,
	});
	t.is(long.size, 1);
	const many = new Map<string, unknown>();
	stripUnsupported({a: nulls(100_000)}, '/capabilities', many);
	const characters = [...many.keys()].join('').length;
	t.true(characters > 16 * KIB && characters < 17 * KIB);
	for (const removed of [long, many]) {
		const value = {};
		t.is(withOriginals(value, removed), value);
	}
});

test('does not record values removed within a list that is recorded as a whole', t => {
	const removed = new Map<string, unknown>();
	const list = [{a: null}, [null, 1], null];
	t.deepEqual(stripUnsupported({list}, '', removed), {list: [{}, [1]]});
	t.deepEqual([...removed], [['/list', list]]);
});

test('finds null and fractions at any depth', t => {
	for (const value of [null, 0.5, [1, [null]], {a: {b: [{c: 1.5}]}}]) t.true(hasUnsupported(value));
	for (const value of [1, 'null', true, [], {}, {a: [{b: 2}]}]) t.false(hasUnsupported(value));
});
