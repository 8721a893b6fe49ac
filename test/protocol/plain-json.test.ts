import test from 'ava';
import fc from 'fast-check';
import {restored, withOriginals} from '../../lib/protocol/original.js';
import {fittedObject} from '../../lib/protocol/plain-json.js';
import {json, plainJson} from '../helpers/mcp-arbitrary/values.js';

const isPlain = (value: unknown): boolean => {
	if (typeof value === 'number') return Number.isInteger(value);
	if (typeof value !== 'object') return true;
	return value !== null && Object.values(value).every(isPlain);
};

test('what is left of any value fits, and with what was taken out it is whole again', t => {
	const property = fc.property(json.object, value => {
		const removed = new Map<string, unknown>();
		const fit = fittedObject(value, '', removed);
		t.true(isPlain(fit));
		const back = restored(removed.size > 0 ? withOriginals(fit, removed) : fit, () => true);
		t.deepEqual(back, value);
	});
	fc.assert(property);
});

test('a value that fits is the very same', t => {
	const property = fc.property(plainJson.object, value => {
		const removed = new Map<string, unknown>();
		t.is(fittedObject(value, '', removed), value);
		t.is(removed.size, 0);
	});
	fc.assert(property);
});

test('a member called __proto__ is a member like any other', t => {
	const value = JSON.parse('{"__proto__":{"a":null,"b":1}}');
	const removed = new Map<string, unknown>();
	t.is(JSON.stringify(fittedObject(value, '', removed)), '{"__proto__":{"b":1}}');
	t.deepEqual([...removed], [['/__proto__/a', null]]);
});
