import test from 'ava';
import fc from 'fast-check';
import {lineSplitter} from '../../lib/wire/line-splitter.js';
import {blank, cutsOf, jsonText} from './arbitraries.js';
import {bytesOf, type Cutting, cut, piecesOf} from './cutting.js';
import {heldBytes, holdsLess} from './heap.js';

const LIMIT = 100;

const splitLines = (pieces: readonly (Buffer | string)[], limit = LIMIT): Cutting =>
	cut(cuts => lineSplitter(limit, cuts), pieces);

/** A request of exactly this many bytes, with its id at the start or at the end. */
const request = (size: number, id: string, idAt: 'start' | 'end' = 'start'): string => {
	const [start, end] =
		idAt === 'start'
			? [`{"jsonrpc":"2.0","id":${id},"method":"a","params":["`, '"]}']
			: ['{"jsonrpc":"2.0","method":"a","params":["', `"],"id":${id}}`];
	return start + 'x'.repeat(size - start.length - end.length) + end;
};

const text = '{"a":"é"}\n{"b":"😀\u2028"}\r\n\n \t\r\n{"c":\r1}\n\r\n{"last":1}';
const messages = ['{"a":"é"}\n', '{"b":"😀\u2028"}\n', '{"c":\r1}\n', '{"last":1}\n'];

test('emits messages in order, wherever the stream is split in two [A1]', t => {
	const bytes = Buffer.from(text);
	for (let at = 0; at <= bytes.length; at++)
		t.deepEqual(splitLines(piecesOf(bytes, [at])).lines, messages, `${at}`);
});

test('emits messages in order, wherever the stream is split in three [A1]', t => {
	const bytes = Buffer.from(text);
	const wrong: number[][] = [];
	for (let first = 0; first <= bytes.length; first++)
		for (let second = first; second <= bytes.length; second++)
			if (splitLines(piecesOf(bytes, [first, second])).lines.join() !== messages.join())
				wrong.push([first, second]);
	t.deepEqual(wrong, []);
});

test('emits messages in order from single bytes [A1]', t => {
	t.deepEqual(splitLines(bytesOf(Buffer.from(text))).lines, messages);
});

test('emits every message once, in order and byte for byte, for any stream and any chunks [A1]', t => {
	const line = fc.tuple(blank, jsonText(blank), blank).map(parts => parts.join(''));
	const ended = fc.tuple(line, fc.constantFrom('\n', '\r\n', '\n\n', '\n \r\n'));
	const stream = fc.array(ended, {minLength: 1, maxLength: 20}).chain(pairs => {
		const bytes = Buffer.from(pairs.flat().join(''));
		return fc.tuple(fc.constant(pairs), fc.constant(bytes), cutsOf(bytes.length));
	});
	fc.assert(
		fc.property(stream, ([pairs, bytes, cuts]) => {
			const expected = pairs.map(([message]) => `${message}\n`);
			t.deepEqual(splitLines(piecesOf(bytes, cuts), 1e6).all, expected);
		}),
		{numRuns: 1000},
	);
});

test('emits bytes that are not UTF-8 unchanged, split only at line feeds [A1]', t => {
	const bytes = fc
		.uint8Array({maxLength: 200})
		.chain(array => fc.tuple(fc.constant(array), cutsOf(array.length)));
	fc.assert(
		fc.property(bytes, ([array, cuts]) => {
			const found: Buffer[] = [];
			const splitter = lineSplitter(1000, {
				message: line => found.push(line),
				parts: () => t.fail(),
				tooLarge: () => t.fail(),
			});
			for (const piece of piecesOf(Buffer.from(array), cuts)) splitter.push(Buffer.from(piece));
			splitter.end();
			const expected = Buffer.from(array)
				.toString('latin1')
				.split('\n')
				.map(line => line.replace(/\r$/, ''));
			const kept = expected.filter(line => /[^ \t\r]/.test(line)).map(line => `${line}\n`);
			t.deepEqual(
				found.map(line => line.toString('latin1')),
				kept,
			);
		}),
		{numRuns: 1000},
	);
});

test('does not copy a line received in one chunk', t => {
	const chunk = Buffer.from('{"a":1}\n{"b":2}\n');
	const found: Buffer[] = [];
	lineSplitter(LIMIT, {
		message: line => found.push(line),
		parts: () => t.fail(),
		tooLarge: () => t.fail(),
	}).push(chunk);
	t.deepEqual(
		found.map(line => line.byteOffset - chunk.byteOffset),
		[0, 8],
	);
	t.true(found.every(line => line.buffer === chunk.buffer));
});

test('emits a last line without a line feed', t => {
	t.deepEqual(splitLines(['{"a":1}\n{"b"', ':2}']).lines, ['{"a":1}\n', '{"b":2}\n']);
});

test('emits nothing for a stream without messages', t => {
	for (const blanks of ['', '\n', '\r\n', ' \t\r\n\n', '\r'])
		t.deepEqual(splitLines([blanks]).all, [], JSON.stringify(blanks));
});

test('removes only one carriage return at the end of a line', t => {
	t.deepEqual(splitLines(['{"a":1}\r\r\n']).lines, ['{"a":1}\r\n']);
});

/** A message in one chunk, with a separate end, in two chunks and in single bytes. */
const splits = (bytes: string): Array<readonly (Buffer | string)[]> => [
	[bytes],
	[bytes.slice(0, -1), bytes.slice(-1)],
	[bytes.slice(0, 10), bytes.slice(10)],
	bytesOf(Buffer.from(bytes)),
];

for (const [name, ending] of Object.entries({
	'a line feed': '\n',
	'CR and LF': '\r\n',
	'the end of the stream': '',
}))
	test(`accepts a message exactly at the limit that ends with ${name} [A2]`, t => {
		const message = request(LIMIT, '1');
		for (const pieces of splits(message + ending)) t.deepEqual(splitLines(pieces).all, [`${message}\n`]);
	});

for (const [name, ending] of Object.entries({
	'a line feed': '\n',
	'CR and LF': '\r\n',
	'the end of the stream': '',
}))
	test(`rejects a message one byte over the limit that ends with ${name} [A2]`, t => {
		for (const pieces of splits(request(LIMIT + 1, '1') + ending))
			t.deepEqual(splitLines(pieces).all, [undefined]);
	});

test('emits the messages after one over the limit, wherever it is split [A2]', t => {
	const stream = Buffer.from(`{"a":1}\n${request(300, '5')}\n{"b":2}\r\n${request(LIMIT, '6')}\n`);
	const expected = ['{"a":1}\n', undefined, '{"b":2}\n', `${request(LIMIT, '6')}\n`];
	for (let at = 0; at <= stream.length; at++) {
		const {all, ids} = splitLines(piecesOf(stream, [at]));
		t.deepEqual([all, ids], [expected, ['5']], `${at}`);
	}
	t.deepEqual(splitLines(bytesOf(stream)).all, expected);
});

for (const place of ['start', 'end'] as const)
	test(`finds the id at the ${place} of a message over the limit, wherever it is split [A2]`, t => {
		for (const size of [LIMIT + 1, LIMIT + 2, LIMIT + 3, LIMIT + 40, 1000, 9000]) {
			const bytes = Buffer.from(`${request(size, '"call 7"', place)}\n`);
			const places = [1, 2, 5, 20, 60, 90, 98, 99, 100, 101, size - 20, size - 10, size - 1, size];
			for (const at of places)
				t.deepEqual(splitLines(piecesOf(bytes, [at])).ids, ['"call 7"'], `${size} at ${at}`);
			for (const cuts of [
				[size - 12, size - 3],
				[size - 20, size - 9, size - 1],
			])
				t.deepEqual(splitLines(piecesOf(bytes, cuts)).ids, ['"call 7"'], `${size} at ${cuts}`);
			t.deepEqual(splitLines(bytesOf(bytes)).ids, ['"call 7"'], `${size} in single bytes`);
		}
	});

test('does not mix up the ids of messages over the limit [A2]', t => {
	const [first, second] = [request(5000, '1', 'end'), `{"a":"${'x'.repeat(LIMIT)}"}`];
	t.deepEqual(splitLines([`${first}\n`, `${second}\n`]).ids, ['1', undefined]);
});

test('does not buffer an endless message, and emits the next one [A2]', async t => {
	let isOver = false;
	const found: string[] = [];
	const splitter = lineSplitter(1e6, {
		message: line => found.push(String(line)),
		parts: () => t.fail(),
		tooLarge: () => (isOver = true),
	});
	const before = heldBytes();
	// Separate chunks, as from a stream, so that a retained chunk uses memory.
	for (let count = 0; count < 4096; count++) splitter.push(Buffer.alloc(2 ** 16, 'x'));
	t.true(await holdsLess(before, 16e6));
	splitter.push(Buffer.from('\n{"a":1}\n'));
	t.true(isOver);
	t.deepEqual(found, ['{"a":1}\n']);
});
