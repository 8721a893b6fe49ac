import test from 'ava';
import fc from 'fast-check';
import {prefixLines} from '../../bin/shared/prefix-lines.js';
import {printable, printableJson, printableLines} from '../../lib/util/printable.js';

/** Code points that must be escaped in terminals and log lines. */
const UNSAFE = [
	...Array.from({length: 0x20}, (_, code) => code),
	...Array.from({length: 0x21}, (_, at) => 0x7f + at),
	0x061c,
	0x200e,
	0x200f,
	0x2028,
	0x2029,
	0x202a,
	0x202b,
	0x202c,
	0x202d,
	0x202e,
	0x2066,
	0x2067,
	0x2068,
	0x2069,
];
const hasUnsafe = (text: string, ...allowed: string[]): boolean =>
	[...text].some(char => UNSAFE.includes(char.charCodeAt(0)) && !allowed.includes(char));
const anyText = fc
	.array(
		fc.oneof(
			fc.string({unit: 'binary'}),
			fc.constantFrom(...UNSAFE).map(code => String.fromCharCode(code)),
		),
	)
	.map(parts => parts.join(''));

test('escapes control and bidi characters in any text [SEC-D20]', t => {
	fc.assert(
		fc.property(anyText, text => {
			t.false(hasUnsafe(printable(text)));
			t.false(hasUnsafe(printableLines(text), '\n', '\t'));
			t.false(hasUnsafe(printableJson(JSON.stringify(text))));
		}),
	);
});

test('does not change the value of JSON [SEC-D20]', t => {
	fc.assert(
		fc.property(fc.jsonValue(), anyText, (value, text) => {
			const all = {value, text, [text]: 1};
			t.deepEqual(
				JSON.parse(printableJson(JSON.stringify(all, undefined, '\t'))),
				JSON.parse(JSON.stringify(all)),
			);
		}),
	);
});

test('does not change other text', t => {
	for (const text of ['', 'plain', 'Grüße, 世界 👩‍💻', 'a\\x1b']) t.is(printable(text), text);
	t.is(printable('a\u001b[2Jb\u009bc\u202ed\u007f'), 'a\\x1b[2Jb\\x9bc\\u202ed\\x7f');
	t.is(printableLines('one\r\n\ttwo\rthree\n'), 'one\n\ttwo\\x0dthree\n');
});

test('prefixes each line of a child with its name, and writes an unfinished line at the end [SEC-D20]', t => {
	let written = '';
	const show = prefixLines(text => {
		written += text;
	});
	show('wix', Buffer.from('one\n{"level":50}\r\nhal'));
	show('notion', Buffer.from('other\n'));
	show('wix', Buffer.from('f\u001b[31m'));
	show('wix', Buffer.alloc(0));
	show('wix', Buffer.alloc(0));
	t.is(written, '[wix] one\n[wix] {"level":50}\n[notion] other\n[wix] half\\x1b[31m\n');
});
