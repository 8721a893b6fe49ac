import test from 'ava';
import {findDifferences} from '../../lib/replay/compare.js';
import {formatDifference, formatOutcome, formatReportSummary} from '../../lib/replay/report.js';

const rules = {ignored: [], isStrict: true};
const shown = (recorded: object, live: object): string =>
	findDifferences(recorded, live, rules).flatMap(formatDifference).join('\n');

test('shows long texts from shortly before the difference, and multi-line texts as a diff', t => {
	const long = 'a'.repeat(10_000);
	const text = shown({text: `${long}b${long}`}, {text: `${long}c${long}`});
	t.true(text.length < 1000);
	t.regex(text, /- …a+ba+…\n {4}\+ …a+ca+…$/);
	t.is(shown({text: 'a\nb\nc'}, {text: 'a\nB\nc'}), '    /text\n      a\n    - b\n    + B\n      c');
});

test('redacts secrets of a live server', t => {
	const text = shown(
		{a: 1, token: 'old'},
		{a: {api_key: 'hunter2', b: [{password: 'hunter3'}]}, token: 'hunter4', secret: 'hunter5'},
	);
	t.notRegex(text, /hunter/);
	t.is(text.match(/\[redacted\]/g)?.length, 5);
});

test('counts differences over the display limit', t => {
	const many = Object.fromEntries(Array.from({length: 100}, (_, at) => [`m${at}`, at]));
	const found = findDifferences(many, {}, rules);
	const lines = formatOutcome({title: 'it', status: 'different', differences: found, ms: 1}, 7);
	t.is(lines[0], '✗ 7 it');
	t.is(lines.at(-2), '    … and 80 more differences');
	t.is(
		formatReportSummary({same: 1, different: 2, failed: 0, missed: 3}, 1.25),
		'✗ 6 compared: 1 same, 2 different, 3 not tried (1.3 s)',
	);
});
