import test from 'ava';
import fc from 'fast-check';
import {toPercentText} from '../../lib/store/percent.js';

/** Bytes again, the way a reader of the log gets them. */
function decode(text: string): Buffer {
	const latin1 = text.replace(/%([0-9A-F]{2})/g, (_, hex: string) =>
		String.fromCharCode(Number.parseInt(hex, 16)),
	);
	return Buffer.from(latin1, 'latin1');
}

/** How a byte stands in a line of the log, where it is not itself. */
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

test('writes each of the 256 bytes as the format has it', t => {
	for (let byte = 0; byte < 256; byte++)
		t.is(JSON.stringify(toPercentText(Buffer.of(byte))), `"${expected(byte)}"`, `byte ${byte}`);
});

test('needs no \\u escapes in JSON', t => {
	const all = Buffer.from(Array.from({length: 256}, (_, byte) => byte));
	t.notRegex(JSON.stringify(toPercentText(all)), /\\u/);
});

test('can be turned back into the same bytes', t => {
	fc.assert(
		fc.property(fc.uint8Array(), bytes => {
			const line = JSON.stringify(toPercentText(bytes));
			t.true(decode(JSON.parse(line) as string).equals(bytes));
		}),
	);
});

test('leaves a plus and what looks like an escape as what they are', t => {
	t.is(toPercentText(Buffer.from('a+b %41')), 'a+b %2541');
});
