import test from 'ava';
import {BoundedMap} from '../../lib/util/bounded-map.js';

test('evicts the oldest entry when it is full', t => {
	const map = new BoundedMap<string, number>(2);
	map.set('a', 1).set('b', 2).set('c', 3);
	t.deepEqual(
		[...map],
		[
			['b', 2],
			['c', 3],
		],
	);
});

test('does not count an entry twice that is set again', t => {
	const map = new BoundedMap<string, number>(2);
	map.set('a', 1).set('b', 2).set('a', 3);
	t.deepEqual(
		[...map],
		[
			['a', 3],
			['b', 2],
		],
	);
});

test('removes an entry with take', t => {
	const map = new BoundedMap<string, number>(2);
	map.set('a', 1);
	t.is(map.take('a'), 1);
	t.is(map.take('a'), undefined);
});
