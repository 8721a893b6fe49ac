import test from 'ava';
import {BoundedMap} from '../../lib/util/bounded-map.js';

test('forgets the oldest entry for the next one when it is full', t => {
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

test('an entry that is set again takes no room', t => {
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

test('takes an entry once', t => {
	const map = new BoundedMap<string, number>(2);
	map.set('a', 1);
	t.is(map.take('a'), 1);
	t.is(map.take('a'), undefined);
});
