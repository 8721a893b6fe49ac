import test from 'ava';
import fc from 'fast-check';
import {SlotMap} from '../../../lib/core/fast/slot-map.js';

type Step = readonly ['set' | 'delete' | 'clear', number];

const steps = fc.array(
	fc.tuple(fc.constantFrom('set', 'set', 'set', 'delete', 'delete', 'clear'), fc.integer({min: 0, max: 12})),
	{maxLength: 200},
) as fc.Arbitrary<Step[]>;

/** What a step gives back, and what is there after it. */
function after(
	map: SlotMap<number, {at: number}> | Map<number, {at: number}>,
	[what, key]: Step,
	at: number,
) {
	const before = map.get(key);
	const result = what === 'set' ? void map.set(key, {at}) : what === 'clear' ? map.clear() : map.delete(key);
	return {before, result, values: [...map.values()], size: map.size, has: map.has(key), now: map.get(key)};
}

test('a map for what comes and goes is what a Map is, in the same order', t => {
	const property = fc.property(steps, taken => {
		const [ours, plain] = [new SlotMap<number, {at: number}>(), new Map<number, {at: number}>()];
		for (const [at, step] of taken.entries()) t.deepEqual(after(ours, step, at), after(plain, step, at));
	});
	fc.assert(property);
	t.pass();
});

test('what a map had room for at its height is given back when it is empty', t => {
	const map = new SlotMap<number, object>();
	for (let round = 0; round < 3; round++) {
		for (let key = 0; key < 5000; key++) map.set(key, {round});
		for (let key = 0; key < 5000; key++) t.deepEqual(map.take(key), {round});
		t.is(map.size, 0);
	}
});

test('entries may go, and others come, while the rest is looked at', t => {
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
