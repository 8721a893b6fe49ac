import test from 'ava';
import {lineSplitter} from '../../lib/wire/line-splitter.js';

const LIMIT = 2 ** 20;
const CHUNK = 65_536;

/** Splits texts that arrive in chunks. Returns each line and whether it was emitted in parts. */
function splitChunks(...texts: string[]): Array<readonly [text: string, isInParts: boolean]> {
	const found: Array<readonly [string, boolean]> = [];
	const splitter = lineSplitter(LIMIT, {
		message: line => found.push([String(line), false]),
		parts: line => found.push([String(Buffer.concat(line)), true]),
		tooLarge: () => found.push(['too large', false]),
	});
	const bytes = Buffer.from(texts.join(''));
	for (let at = 0; at < bytes.length; at += CHUNK) splitter.push(Buffer.from(bytes.subarray(at, at + CHUNK)));
	splitter.end();
	return found;
}

const long = (length: number, start = '{'): string => start + 'x'.repeat(length - start.length);
const first = '{}\n';

test('emits a long line in parts', t => {
	const line = `${long(300_000)}\n`;
	t.deepEqual(splitChunks(first, line, first), [
		[first, false],
		[line, true],
		[first, false],
	]);
});

test('emits a line at the limit in parts and rejects one over it', t => {
	const most = `${long(LIMIT)}\n`;
	t.deepEqual(
		splitChunks(first, most, `${long(LIMIT + 1)}\n`, first).map(([text]) => text),
		[first, most, 'too large', first],
	);
});

for (const [name, texts, expected] of [
	['the first line', [`${long(300_000)}\n`], `${long(300_000)}\n`],
	['a line that ends with CRLF', [first, `${long(300_000)}\r\n`], `${long(300_000)}\n`],
	['a line whose CR came before its LF', [first, `${long(5 * CHUNK - 4)}\r\n`], `${long(5 * CHUNK - 4)}\n`],
	['a line that does not begin with a brace', [first, `${long(300_000, ' ')}\n`], `${long(300_000, ' ')}\n`],
] as const)
	test(`joins ${name}`, t => {
		t.deepEqual(splitChunks(...texts).at(-1), [expected, false]);
	});

test('skips a long line of white space', t => {
	t.deepEqual(splitChunks(first, `${' '.repeat(300_000)}\n`, first), [
		[first, false],
		[first, false],
	]);
});
