import test from 'ava';
import {parseDuration, parseSize} from '../../lib/util/units.js';

for (const [text, expected] of [
	['0', 0],
	['90', 90_000],
	['1.5', 1500],
	['250ms', 250],
	['90s', 90_000],
	['30m', 1_800_000],
	['30 M', 1_800_000],
	['2h', 7_200_000],
	['1d', 86_400_000],
	['24d', 2_073_600_000],
] as const)
	test(`parses ${text} as ${expected} milliseconds`, t => {
		t.is(parseDuration(text), expected);
	});

for (const text of ['', '-1', '1e3', '30x', 'm', '25d', '1m30s', 'NaN', 'Infinity', '5constructor'])
	test(`rejects the duration ${JSON.stringify(text)}`, t => {
		t.is(parseDuration(text), undefined);
	});

test('parses sizes in powers of two and of ten', t => {
	t.is(parseSize('64MiB'), 2 ** 26);
	t.is(parseSize('64MB'), 64e6);
	t.is(parseSize('lots'), undefined);
});
