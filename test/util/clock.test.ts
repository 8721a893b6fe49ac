import test from 'ava';
import fc from 'fast-check';
import {isoTime, nowMicroseconds} from '../../lib/util/clock.js';

/** Up to the year 2255: later times in microseconds are not safe integers. */
const anyTime = fc.integer({min: 0, max: Number.MAX_SAFE_INTEGER});

test('formats any sequence of times in UTC with six decimals', t => {
	fc.assert(
		fc.property(anyTime, at => {
			const millis = new Date(Math.floor(at / 1000)).toISOString().slice(0, -1);
			t.is(isoTime(at), `${millis}${String(at % 1000).padStart(3, '0')}Z`);
		}),
	);
});

test('pads fractions of a second with zeros', t => {
	t.is(isoTime(1_000_007), '1970-01-01T00:00:01.000007Z');
	t.is(isoTime(0), '1970-01-01T00:00:00.000000Z');
	t.is(isoTime(999_999), '1970-01-01T00:00:00.999999Z');
});

test('formats times so that they sort chronologically', t => {
	fc.assert(
		fc.property(anyTime, anyTime, (one, other) => {
			t.is(
				Math.sign(one - other),
				isoTime(one) < isoTime(other) ? -1 : isoTime(one) > isoTime(other) ? 1 : 0,
			);
		}),
	);
});

test('returns the time in whole microseconds', t => {
	const before = Date.now();
	const at = nowMicroseconds();
	t.true(Number.isSafeInteger(at));
	// The wall clock may have been adjusted slightly since this process started.
	t.true(Math.abs(at / 1000 - before) < 1000);
});

test('never goes back', t => {
	const times = Array.from({length: 1000}, nowMicroseconds);
	t.deepEqual(
		times,
		times.toSorted((one, other) => one - other),
	);
});

test.serial('does not jump when the process is suspended between two clock samples', t => {
	const {now} = Date;
	t.teardown(() => {
		Date.now = now;
	});
	let isWaiting = true;
	Date.now = () => {
		const until = performance.now() + (isWaiting ? 20 : 0);
		isWaiting = false;
		while (performance.now() < until);
		return now();
	};
	const first = nowMicroseconds();
	t.false(isWaiting);
	t.true(nowMicroseconds() - first >= 20_000);
});
