import test from 'ava';
import fc from 'fast-check';
import {StringCache} from '../../lib/wire/string-cache.js';
import {stringText} from './arbitraries.js';

/** The text of one string with something before and behind it. */
const read = (texts: StringCache, string: string, before = '', behind = ''): string => {
	const start = Buffer.byteLength(before);
	return texts.get(Buffer.from(before + string + behind), start, start + Buffer.byteLength(string));
};

test('every string is read as JSON.parse reads it, in whatever order they come and come again', t => {
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
		fc.property(strings, fc.array(fc.nat({max: 29}), {maxLength: 60}), (known, order) => {
			const texts = new StringCache();
			for (const at of order) {
				const string = known[at % known.length] ?? '""';
				t.is(read(texts, string, '{"method":', ',"id":1}'), JSON.parse(string));
			}
		}),
		{numRuns: 500},
	);
});

test('strings of the same length, middle and end are told apart', t => {
	const texts = new StringCache();
	for (let round = 0; round < 2; round++)
		for (const word of ['a/call', 'b/call', 'a\\u002f', '', 'a', 'b'])
			t.is(read(texts, `"${word}"`), JSON.parse(`"${word}"`));
});

test('a text that is kept does not change with the buffer that it was read from', t => {
	const texts = new StringCache();
	const bytes = Buffer.from('"tools/list"');
	t.is(texts.get(bytes, 0, bytes.length), 'tools/list');
	bytes.write('"toolz/list"');
	t.is(texts.get(bytes, 0, bytes.length), 'toolz/list');
	t.is(read(texts, '"tools/list"'), 'tools/list');
});

test('strings too long to be kept are read like any other', t => {
	const texts = new StringCache();
	for (let round = 0; round < 2; round++)
		for (const length of [61, 62, 63, 64, 1000])
			for (const letter of ['a', '\\n', 'é'])
				t.is(read(texts, `"${letter.repeat(length)}"`), JSON.parse(`"${letter.repeat(length)}"`));
});
