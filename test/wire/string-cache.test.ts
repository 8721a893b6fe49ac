import test from 'ava';
import fc from 'fast-check';
import {StringCache} from '../../lib/wire/string-cache.js';
import {stringText} from './arbitraries.js';

/** Reads a string between other bytes. */
const read = (cache: StringCache, string: string, before = '', behind = ''): string => {
	const start = Buffer.byteLength(before);
	return cache.get(Buffer.from(before + string + behind), start, start + Buffer.byteLength(string));
};

test('decodes strings like JSON.parse in any order of repetition', t => {
	const strings = fc.array(
		fc.oneof(
			stringText,
			fc.string({maxLength: 3}).map(text => JSON.stringify(text)),
		),
		{
			minLength: 1,
			maxLength: 30,
		},
	);
	fc.assert(
		fc.property(strings, fc.array(fc.nat({max: 29}), {maxLength: 60}), (list, order) => {
			const cache = new StringCache();
			for (const at of order) {
				const string = list[at % list.length] ?? '""';
				t.is(read(cache, string, '{"method":', ',"id":1}'), JSON.parse(string));
			}
		}),
		{numRuns: 500},
	);
});

test('distinguishes strings with the same length, middle and end', t => {
	const cache = new StringCache();
	for (let round = 0; round < 2; round++)
		for (const word of ['a/call', 'b/call', 'a\\u002f', '', 'a', 'b'])
			t.is(read(cache, `"${word}"`), JSON.parse(`"${word}"`));
});

test('does not change a cached text when its buffer changes', t => {
	const cache = new StringCache();
	const bytes = Buffer.from('"tools/list"');
	t.is(cache.get(bytes, 0, bytes.length), 'tools/list');
	bytes.write('"toolz/list"');
	t.is(cache.get(bytes, 0, bytes.length), 'toolz/list');
	t.is(read(cache, '"tools/list"'), 'tools/list');
});

test('decodes strings that are too long for the cache', t => {
	const cache = new StringCache();
	for (let round = 0; round < 2; round++)
		for (const length of [61, 62, 63, 64, 1000])
			for (const letter of ['a', '\\n', 'é'])
				t.is(read(cache, `"${letter.repeat(length)}"`), JSON.parse(`"${letter.repeat(length)}"`));
});
