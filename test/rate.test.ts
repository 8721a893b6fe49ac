import test from 'ava';
import {Rate} from '../lib/rate.js';

test('lets something be done so often in a stretch of time, and no more', t => {
	let now = 0;
	const rate = new Rate(2, 100, () => now);
	t.true(rate.take());
	now = 60;
	t.true(rate.take());
	t.false(rate.take());
	t.is(rate.waitMs, 40);
	now = 100;
	t.is(rate.waitMs, 0);
	t.true(rate.take());
	t.false(rate.take());
	t.is(rate.waitMs, 60);
});

test('what was refused does not count', t => {
	let now = 0;
	const rate = new Rate(1, 100, () => now);
	t.true(rate.take());
	for (now = 10; now < 100; now += 10) t.false(rate.take());
	t.true(rate.take());
});
