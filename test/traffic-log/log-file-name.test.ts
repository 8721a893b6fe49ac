import test from 'ava';
import {checkFileNameFormat, logFileName} from '../../lib/traffic-log/log-file-name.js';

const at = Date.UTC(2026, 0, 2, 3, 4, 5) * 1000 + 999_999;

for (const [format, name] of [
	['rawprox_%Y-%m-%d-%H.ndjson', 'rawprox_2026-01-02-03.ndjson'],
	['%Y%m%d%H%M%S', '20260102030405'],
	['100%%', '100%'],
	['%%Y', '%Y'],
	['%x%y', 'xy'],
	['end%', 'end%'],
	['plain', 'plain'],
	['%Y%Y', '20262026'],
] as const)
	test(`formats ${format} as ${name}`, t => {
		t.is(logFileName(format, at), name);
	});

test('uses UTC, also at the end of a year', t => {
	t.is(
		logFileName('%Y-%m-%d %H:%M:%S', Date.UTC(2026, 11, 31, 23, 59, 59) * 1000 + 999_999),
		'2026-12-31 23:59:59',
	);
});

for (const format of [
	'',
	'.',
	'..',
	'a/b',
	'../x',
	'/etc/x',
	'a\\b',
	'a\0b',
	'%/',
	'%.',
	'.%.',
	'%.%.',
	'%Y/%m',
])
	test(`rejects ${JSON.stringify(format)}, which does not name a file in the folder`, t => {
		const error = t.throws(() => checkFileNameFormat(format), {code: 'ERR_CONFIG_INVALID'});
		t.true(error?.message.includes(JSON.stringify(format)));
	});

for (const format of ['%Y', '..x', 'a b', '%%', '.hidden', 'ü'])
	test(`accepts ${JSON.stringify(format)}`, t => {
		t.notThrows(() => checkFileNameFormat(format));
	});

test('rejects a format whose names are too long for a file system', t => {
	t.throws(() => checkFileNameFormat('x'.repeat(256)), {code: 'ERR_CONFIG_INVALID', message: /256 bytes/});
	t.throws(() => checkFileNameFormat('é'.repeat(128)), {code: 'ERR_CONFIG_INVALID'});
	t.notThrows(() => checkFileNameFormat('x'.repeat(255)));
	t.notThrows(() => checkFileNameFormat('%%'.repeat(255)));
});
