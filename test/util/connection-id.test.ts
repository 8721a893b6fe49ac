import test from 'ava';
import {nowMicroseconds} from '../../lib/util/clock.js';
import {newConnectionId} from '../../lib/util/connection-id.js';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const numberOf = (id: string): number =>
	[...id].reduce((value, digit) => value * 62 + DIGITS.indexOf(digit), 0);

test('consists of eight base-62 digits', t => {
	for (let count = 0; count < 100; count++) t.regex(newConnectionId(), /^[0-9A-Za-z]{8}$/);
});

test('increments by one for each connection', t => {
	const first = numberOf(newConnectionId());
	for (let count = 1; count < 1000; count++) t.is(numberOf(newConnectionId()), (first + count) % 62 ** 8);
});

test('starts from the last digits of the start-up time', t => {
	const elapsed = (nowMicroseconds() - numberOf(newConnectionId())) % 62 ** 8;
	t.true(elapsed >= 0 && elapsed < 60_000_000, `${elapsed} microseconds`);
});
