import test from 'ava';
import fc from 'fast-check';
import {isDeeperThan, wellFormed, wellFormedJson} from '../../lib/util/well-formed.js';

test('replaces only lone surrogates in JSON text, as in plain text [S-D1]', t => {
	const units = fc.array(fc.constantFrom('\ud83d', '\ude00', '\\', 'u', 'd800', '"', 'é', '\n'), {
		maxLength: 12,
	});
	fc.assert(
		fc.property(units, parts => {
			const text = parts.join('');
			const repaired = wellFormedJson(JSON.stringify({[text]: [text]}));
			t.deepEqual(JSON.parse(repaired), {[wellFormed(text)]: [wellFormed(text)]});
		}),
	);
	const escaped = '"\\ud83d\\ude00 \\uD83D\\uDE00 \\\\ud800"';
	t.is(wellFormedJson(escaped), escaped);
	t.is(wellFormedJson('"\\uD800\\ud83d\\ude00"'), '"\\ufffd\\ud83d\\ude00"');
});

test('measures the depth of nested lists and objects [S-D1]', t => {
	let value: unknown = 1;
	for (let level = 1; level <= 10_000; level++) {
		value = level % 2 === 0 ? [value] : {a: value, b: []};
		if (level === 100) t.false(isDeeperThan(value, 100));
		if (level === 101) t.true(isDeeperThan(value, 100));
	}
	t.true(isDeeperThan(value, 100));
	t.false(isDeeperThan('text', 0));
});
