import test from 'ava';
import fc from 'fast-check';
import {PercentWriter} from '../../lib/traffic-log/percent-writer.js';
import {decodePercentText, encodePercentText} from '../../lib/wire/percent-text.js';

/** The encoding of a byte in a line of the log. */
function expected(byte: number): string {
	const char = String.fromCharCode(byte);
	const escaped = new Map<string, string>([
		...([
			['\t', '\\t'],
			['\n', '\\n'],
			['\r', '\\r'],
			['"', '\\"'],
			['\\', '\\\\'],
			['%', '%25'],
		] as const),
	]).get(char);
	if (escaped !== undefined) return escaped;
	return byte >= 0x20 && byte <= 0x7e ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}

/** Encodes bytes with the writer of traffic logs, without the quotes. */
function written(bytes: Uint8Array, at = 0): string {
	const writer = new PercentWriter(at + 3 * bytes.length);
	return writer.output.toString('latin1', at, writer.write(Buffer.from(bytes), at));
}

const all = Buffer.from(Array.from({length: 256}, (_, byte) => byte));

test('encodes each of the 256 bytes as specified', t => {
	for (let byte = 0; byte < 256; byte++)
		t.is(JSON.stringify(encodePercentText(Buffer.of(byte))), `"${expected(byte)}"`, `byte ${byte}`);
});

test('needs no \\u escapes in JSON', t => {
	t.notRegex(JSON.stringify(encodePercentText(all)), /\\u/);
	t.notRegex(written(all), /\\u/);
});

test('encodes the same in WebAssembly as in JavaScript, at any position', t => {
	fc.assert(
		fc.property(fc.uint8Array({maxLength: 100}), fc.nat(20), (bytes, at) => {
			t.is(`"${written(bytes, at)}"`, JSON.stringify(encodePercentText(bytes)));
		}),
	);
});

test('encodes more bytes than its input buffer holds', t => {
	const bytes = Buffer.concat(Array.from({length: 1000}, () => all));
	t.true(decodePercentText(JSON.parse(`"${written(bytes)}"`)).equals(bytes));
});

test('decodes to the original bytes', t => {
	fc.assert(
		fc.property(fc.uint8Array(), bytes => {
			const line = JSON.stringify(encodePercentText(bytes));
			t.true(decodePercentText(JSON.parse(line) as string).equals(bytes));
		}),
	);
});

test('preserves plus signs and text that looks like an escape', t => {
	t.is(encodePercentText(Buffer.from('a+b %41')), 'a+b %2541');
	t.is(decodePercentText('a+b %2541').toString(), 'a+b %41');
});

for (const [text, bytes] of [
	['%', '%'],
	['%4', '%4'],
	['%4g', '%4g'],
	['%%41', '%A'],
	['%4a%4A', 'JJ'],
	['%C3%A9', 'é'],
] as const)
	test(`decodes ${text} as ${bytes}`, t => {
		t.is(decodePercentText(text).toString(), bytes);
	});
