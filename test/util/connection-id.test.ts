import test from 'ava';
import {nowMicroseconds} from '../../lib/util/clock.js';
import {newConnectionId} from '../../lib/util/connection-id.js';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const numberOf = (id: string): number =>
	[...id].reduce((value, digit) => value * 62 + DIGITS.indexOf(digit), 0);

test('is eight digits of base 62', t => {
	for (let count = 0; count < 100; count++) t.regex(newConnectionId(), /^[0-9A-Za-z]{8}$/);
});

test('grows by one with each conversation', t => {
	const first = numberOf(newConnectionId());
	for (let count = 1; count < 1000; count++) t.is(numberOf(newConnectionId()), (first + count) % 62 ** 8);
});

test('begins with the last digits of the time of start-up', t => {
	const passed = (nowMicroseconds() - numberOf(newConnectionId())) % 62 ** 8;
	t.true(passed >= 0 && passed < 60_000_000, `${passed} microseconds`);
});
