import test from 'ava';
import {lineSplitter} from '../../lib/wire/line-splitter.js';

const LIMIT = 2 ** 20;
const CHUNK = 65_536;

/** What becomes of lines that come in chunks: as text, and whether they came in parts. */
function cutInChunks(...texts: string[]): Array<readonly [text: string, isInParts: boolean]> {
	const found: Array<readonly [string, boolean]> = [];
	const cutter = lineSplitter(LIMIT, {
		message: line => found.push([String(line), false]),
		parts: line => found.push([String(Buffer.concat(line)), true]),
		tooLarge: () => found.push(['too large', false]),
	});
	const bytes = Buffer.from(texts.join(''));
	for (let at = 0; at < bytes.length; at += CHUNK) cutter.push(Buffer.from(bytes.subarray(at, at + CHUNK)));
	cutter.end();
	return found;
}

const long = (length: number, start = '{'): string => start + 'x'.repeat(length - start.length);
const first = '{}\n';

test('a long line stays in the parts that it came in', t => {
	const line = `${long(300_000)}\n`;
	t.deepEqual(cutInChunks(first, line, first), [
		[first, false],
		[line, true],
		[first, false],
	]);
});

test('lines up to the limit may pass in parts, and the one over it not at all', t => {
	const most = `${long(LIMIT)}\n`;
	t.deepEqual(
		cutInChunks(first, most, `${long(LIMIT + 1)}\n`, first).map(([text]) => text),
		[first, most, 'too large', first],
	);
});

for (const [what, texts, expected] of [
	['the first line', [`${long(300_000)}\n`], `${long(300_000)}\n`],
	['a line that ends with CRLF', [first, `${long(300_000)}\r\n`], `${long(300_000)}\n`],
	['a line whose CR came before its LF', [first, `${long(5 * CHUNK - 4)}\r\n`], `${long(5 * CHUNK - 4)}\n`],
	['a line that does not begin with a brace', [first, `${long(300_000, ' ')}\n`], `${long(300_000, ' ')}\n`],
] as const)
	test(`${what} is joined, since its ends have to be looked at`, t => {
		t.deepEqual(cutInChunks(...texts).at(-1), [expected, false]);
	});

test('a long line of white space is none', t => {
	t.deepEqual(cutInChunks(first, `${' '.repeat(300_000)}\n`, first), [
		[first, false],
		[first, false],
	]);
});
