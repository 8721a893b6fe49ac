import test from 'ava';
import {RateLimiter} from '../../lib/util/rate-limiter.js';

test('limits the number of actions per time window', t => {
	let now = 0;
	const limiter = new RateLimiter(2, 100, () => now);
	t.true(limiter.tryAcquire());
	now = 60;
	t.true(limiter.tryAcquire());
	t.false(limiter.tryAcquire());
	t.is(limiter.retryAfterMs, 40);
	now = 100;
	t.is(limiter.retryAfterMs, 0);
	t.true(limiter.tryAcquire());
	t.false(limiter.tryAcquire());
	t.is(limiter.retryAfterMs, 60);
});

test('does not count rejected actions', t => {
	let now = 0;
	const limiter = new RateLimiter(1, 100, () => now);
	t.true(limiter.tryAcquire());
	for (now = 10; now < 100; now += 10) t.false(limiter.tryAcquire());
	t.true(limiter.tryAcquire());
});
