import test from 'ava';
import fc from 'fast-check';
import {SlotMap} from '../../../lib/core/fast/slot-map.js';

type Step = readonly ['set' | 'delete' | 'clear', number];

const steps = fc.array(
	fc.tuple(fc.constantFrom('set', 'set', 'set', 'delete', 'delete', 'clear'), fc.integer({min: 0, max: 12})),
	{maxLength: 200},
) as fc.Arbitrary<Step[]>;

/** Applies a step. Returns its result and the state of the map. */
function apply(
	map: SlotMap<number, {at: number}> | Map<number, {at: number}>,
	[operation, key]: Step,
	at: number,
) {
	const before = map.get(key);
	const result =
		operation === 'set' ? void map.set(key, {at}) : operation === 'clear' ? map.clear() : map.delete(key);
	return {before, result, values: [...map.values()], size: map.size, has: map.has(key), now: map.get(key)};
}

test('behaves like a Map, with the same order of entries', t => {
	const property = fc.property(steps, sequence => {
		const [ours, plain] = [new SlotMap<number, {at: number}>(), new Map<number, {at: number}>()];
		for (const [at, step] of sequence.entries()) t.deepEqual(apply(ours, step, at), apply(plain, step, at));
	});
	fc.assert(property);
	t.pass();
});

test('releases its slots when it becomes empty', t => {
	const map = new SlotMap<number, object>();
	for (let round = 0; round < 3; round++) {
		for (let key = 0; key < 5000; key++) map.set(key, {round});
		for (let key = 0; key < 5000; key++) t.deepEqual(map.take(key), {round});
		t.is(map.size, 0);
	}
});

test('allows entries to be added and deleted during iteration', t => {
	const map = new SlotMap<string, {name: string}>();
	for (const name of ['a', 'b', 'c']) map.set(name, {name});
	const seen: string[] = [];
	for (const {name} of map.values()) {
		seen.push(name);
		if (name === 'a') {
			map.delete('b');
			map.set('d', {name: 'd'});
		}
	}
	t.deepEqual(seen, ['a', 'c', 'd']);
});
