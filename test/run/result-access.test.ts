import test from 'ava';
import fc from 'fast-check';
import {getItem} from '../../lib/run/result-access.js';
import {pack, runnerOf, textOf} from './support.js';

test('an index of a text counts code points from either end', t => {
	const chars = fc.constantFrom('a', 'é', '€', '😀', '\ud83d', '\ude00');
	fc.assert(
		fc.property(fc.array(chars, {maxLength: 12}), fc.integer({min: -14, max: 14}), (parts, key) => {
			const text = parts.join('');
			const expected = [...text].at(key);
			if (expected === undefined)
				t.throws(() => getItem(text, key, 1), {message: 'string index out of range'});
			else t.is(getItem(text, key, 1), expected);
		}),
	);
});

test('an index of a list counts from either end', t => {
	const list = [null, 1, 'b'];
	t.deepEqual(
		[0, 2, -1, -3].map(key => getItem(list, key, 1)),
		[null, 'b', 'b', null],
	);
	for (const key of [3, -4]) t.throws(() => getItem(list, key, 1), {message: 'list index out of range'});
	t.throws(() => getItem(list, 'a', 1), {message: 'list indices must be integers or slices, not str'});
	t.throws(() => getItem('abc', 'a', 1), {message: "string indices must be integers, not 'str'"});
});

/** 4 MB of surrogate pairs. */
const long = '😀'.repeat(1_000_000);

for (const [kind, text, first] of [
	['ASCII', 'a'.repeat(4_000_000), 'a'],
	['surrogates', long, '😀'],
] as const)
	test(`indexes 4 MB of ${kind} thousands of times from both ends [SEC-D11]`, async t => {
		await using runner = runnerOf([pack('p', {t: () => text})], {
			runTimeoutMs: 600_000,
			maxCallBytes: 5_000_000,
		});
		t.is(textOf(await runner.run(`r = p.t()\n${'r[0]\nr[-1]\n'.repeat(2500)}`)), first);
	});

for (const [kind, program] of [
	['statements', `r = p.t()\n${'r[999999]\n'.repeat(2900)}`],
	['items of one list', `r = p.t()\n[${'r[999999],'.repeat(2900)}]\n1`],
] as const)
	test(`a long plain program of ${kind} ends after the time limit [SEC-D11]`, async t => {
		await using runner = runnerOf([pack('p', {t: () => long})], {runTimeoutMs: 100, maxCallBytes: 5_000_000});
		t.is((await runner.run(program)).structuredContent.error?.type, 'RunTimeout');
	});
