import test from 'ava';
import {parseSizeFlag, parseTimeFlag} from '../../../bin/shared/flag-units.js';

for (const [text, expected] of [
	['0', 0],
	['1000', 1000],
	['64KiB', 65_536],
	['64 kib', 65_536],
	['1kB', 1000],
	['1.5MB', 1_500_000],
	['256MiB', 268_435_456],
	['2GiB', 2_147_483_648],
	['3gb', 3_000_000_000],
	['7B', 7],
	['0.3b', 0],
] as const)
	test(`parses ${text} as ${expected} bytes`, t => {
		t.is(parseSizeFlag('max-buffer', text), expected);
	});

for (const text of [
	'',
	'-1',
	'1e3',
	'.5',
	'5.',
	'1 2',
	'MiB',
	'1TiBB',
	'5constructor',
	'0x10',
	'NaN',
	'Infinity',
	'١',
])
	test(`rejects ${JSON.stringify(text)} as a size`, t => {
		const error = t.throws(() => parseSizeFlag('max-buffer', text), {code: 'ERR_CONFIG_INVALID'});
		t.is(error?.message, `--max-buffer ${text} is not valid.`);
	});

for (const [text, factor, expected] of [
	['0', 1000, 0],
	['60', 1000, 60_000],
	['0.25', 1000, 250],
	['2147483', 1000, 2_147_483_000],
	['2000', 1, 2000],
] as const)
	test(`parses ${text} times ${factor} as ${expected} milliseconds`, t => {
		t.is(parseTimeFlag('timeout', text, factor), expected);
	});

for (const text of ['', '-1', '1e3', '1s', 'forever', 'NaN', 'Infinity', '2147484', '0x10', ' 5'])
	test(`rejects ${JSON.stringify(text)} as a time`, t => {
		t.throws(() => parseTimeFlag('timeout', text, 1000), {code: 'ERR_CONFIG_INVALID'});
	});

test('errors name the expected unit', t => {
	t.regex(t.throws(() => parseTimeFlag('a', 'x', 1))?.message ?? '', /--a x is not valid/);
	t.like(
		t.throws(() => parseTimeFlag('a', 'x', 1)),
		{remedy: 'Expected a number of milliseconds.'},
	);
	t.like(
		t.throws(() => parseTimeFlag('a', 'x', 1000)),
		{remedy: 'Expected a number of seconds, 0 for no limit.'},
	);
});

test('returns undefined for a missing value', t => {
	t.is(parseSizeFlag('max-buffer', undefined), undefined);
	t.is(parseTimeFlag('timeout', undefined, 1), undefined);
});
