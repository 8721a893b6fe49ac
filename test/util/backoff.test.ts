import test from 'ava';
import {nextDelayMs, withJitter} from '../../lib/util/backoff.js';

/** The delays of a process that never becomes stable. */
const delays = (count: number): number[] => {
	const all: number[] = [];
	for (let at = 0; at < count; at++) all.push(nextDelayMs(all.at(-1), 100));
	return all;
};

test('doubles the delay from a quarter of a second to half a minute', t => {
	t.deepEqual(delays(10), [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
});

test('resets the delay after an uptime of half a minute', t => {
	t.is(nextDelayMs(30_000, 29_999), 30_000);
	t.is(nextDelayMs(30_000, 30_000), 250);
});

test('respects other limits', t => {
	const limits = {firstMs: 1, maxMs: 3, stableAfterMs: 10};
	t.deepEqual(
		[undefined, 1, 2, 3].map(last => nextDelayMs(last, 0, limits)),
		[1, 2, 3, 3],
	);
	t.is(nextDelayMs(3, 10, limits), 1);
});

test('varies a delay by a quarter in both directions [U-P0-2]', t => {
	t.deepEqual(
		[0, 0.5, 1].map(random => withJitter(1000, () => random)),
		[750, 1000, 1250],
	);
});
