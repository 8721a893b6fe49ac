import test from 'ava';
import {BoundedStringMap} from '../../lib/util/bounded-string-map.js';

test('evicts the oldest entries when their strings are too long in total [SEC-D5]', t => {
	const map = new BoundedStringMap<string>(1000, 100, value => value.length);
	for (let at = 0; at < 20; at++) map.set(`k${at}`.padEnd(10), 'x'.repeat(10));
	t.is(map.size, 5);
	t.is(map.characters, 100);
	t.false(map.has('k14'.padEnd(10)));
	t.is(map.take('k15'.padEnd(10)), 'x'.repeat(10));
	t.is(map.characters, 80);
});

test('evicts the oldest entry when there are too many entries', t => {
	const map = new BoundedStringMap<true>(3);
	for (const key of ['a', 'b', 'c', 'b', 'd']) map.set(key, true);
	t.deepEqual([...map.keys()], ['c', 'b', 'd']);
	t.true(map.delete('c'));
	t.false(map.delete('c'));
	t.is(map.characters, 2);
	map.clear();
	t.is(map.characters, 0);
});
