import test from 'ava';
import {RateLimiter} from '../../lib/util/rate-limiter.js';

test('lets something be done so often in a stretch of time, and no more', t => {
	let now = 0;
	const rate = new RateLimiter(2, 100, () => now);
	t.true(rate.tryAcquire());
	now = 60;
	t.true(rate.tryAcquire());
	t.false(rate.tryAcquire());
	t.is(rate.retryAfterMs, 40);
	now = 100;
	t.is(rate.retryAfterMs, 0);
	t.true(rate.tryAcquire());
	t.false(rate.tryAcquire());
	t.is(rate.retryAfterMs, 60);
});

test('what was refused does not count', t => {
	let now = 0;
	const rate = new RateLimiter(1, 100, () => now);
	t.true(rate.tryAcquire());
	for (now = 10; now < 100; now += 10) t.false(rate.tryAcquire());
	t.true(rate.tryAcquire());
});
