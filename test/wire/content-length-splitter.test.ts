import test from 'ava';
import fc from 'fast-check';
import {contentLengthSplitter} from '../../lib/wire/content-length-splitter.js';
import {cutsOf, jsonText, space} from './arbitraries.js';
import {bytesOf, type Cutting, cut, piecesOf} from './cutting.js';
import {heldBytes, holdsLess} from './heap.js';

const LIMIT = 100;

const cutFrames = (pieces: readonly (Buffer | string)[], limit = LIMIT): Cutting =>
	cut(cuts => contentLengthSplitter(limit, cuts), pieces);

const frame = (body: string): string => `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

/** A request of exactly this many bytes, with its id as the last member. */
const request = (size: number, id: string): string => {
	const [start, end] = ['{"jsonrpc":"2.0","method":"a","params":["', `"],"id":${id}}`];
	return start + 'x'.repeat(size - start.length - end.length) + end;
};

const bodies = ['{"a":"é"}', '{"b":"😀\u2028"}', '{}', '{"c":1}'];
const stream = Buffer.from(bodies.map(frame).join(''));
const expected = bodies.map(body => `${body}\n`);

test('messages come whole and in order, wherever the stream is cut in two [A1]', t => {
	for (let at = 0; at <= stream.length; at++)
		t.deepEqual(cutFrames(piecesOf(stream, [at])).lines, expected, `${at}`);
});

test('messages come whole and in order from single bytes [A1]', t => {
	t.deepEqual(cutFrames(bytesOf(stream)).lines, expected);
});

test('every message comes once and in order, however many there are and wherever they are cut [A1]', t => {
	const streams = fc.array(jsonText(space), {minLength: 1, maxLength: 10}).chain(texts => {
		const bytes = Buffer.from(texts.map(frame).join(''));
		return fc.tuple(fc.constant(texts), fc.constant(bytes), cutsOf(bytes.length));
	});
	fc.assert(
		fc.property(streams, ([texts, bytes, cuts]) => {
			const lines = texts.map(text => `${text.replace(/[\r\n]/g, ' ')}\n`);
			t.deepEqual(cutFrames(piecesOf(bytes, cuts), 1e6).all, lines);
		}),
		{numRuns: 1000},
	);
});

test('a message with line breaks inside becomes one line of the same value', t => {
	const body = '{\r\n\t"a": [\n1,\r2]\n}';
	const {lines} = cutFrames([frame(body)]);
	t.deepEqual(lines, ['{  \t"a": [ 1, 2] }\n']);
	t.deepEqual(JSON.parse(lines.join('')), JSON.parse(body));
});

test('a line break inside a string stays what it is: no JSON', t => {
	t.deepEqual(cutFrames([frame('{"a":"x\ny"}')]).lines, ['{"a":"x\ny"}\n']);
});

for (const [name, header] of Object.entries({
	'in small letters': 'content-length: 7\r\n\r\n',
	'in capitals': 'CONTENT-LENGTH: 7\r\n\r\n',
	'without a blank behind the colon': 'Content-Length:7\r\n\r\n',
	'with blanks around the number': 'Content-Length: \t 7 \t\r\n\r\n',
	'before another one': 'Content-Length: 7\r\nContent-Type: application/json; charset=utf-8\r\n\r\n',
	'after another one': 'Content-Type: application/json\r\nContent-Length: 7\r\n\r\n',
	'with line feeds alone': 'Content-Length: 7\n\n',
	'after empty lines': '\r\n\r\n\nContent-Length: 7\r\n\r\n',
	'with leading zeros': 'Content-Length: 0007\r\n\r\n',
}))
	test(`a header ${name} is understood, wherever it is cut`, t => {
		const bytes = Buffer.from(`${header}{"a":1}${frame('{"b":2}')}`);
		for (let at = 0; at <= bytes.length; at++)
			t.deepEqual(cutFrames(piecesOf(bytes, [at])).all, ['{"a":1}\n', '{"b":2}\n'], `${at}`);
	});

for (const header of [
	'Content-Type: text/plain',
	'Content-Length: x',
	'Content-Length: -7',
	'Content-Length: 1e3',
	'Content-Length:',
])
	test(`the header ${header} has no length: it is refused as a message, and the next one is read`, t => {
		const {all} = cutFrames([`${header}\r\n\r\n${frame('{"a":1}')}`]);
		t.deepEqual(all, [`${header}\n`, '{"a":1}\n']);
	});

test('a header that has no end is refused as a message, and is not held', t => {
	const {all} = cutFrames([`Content-Type: ${'x'.repeat(100_000)}`]);
	t.true(all.length > 0);
	t.true(all.every(text => text?.length === 8193 || text?.startsWith('x') || text?.startsWith('C')));
	t.true(all.every(text => text !== undefined && text.length <= 8193));
});

test('a line that is no header is refused, rather than lost with the header behind it', t => {
	const {all} = cutFrames([`${frame('{"a":1}')}{"b":2}\n${frame('{"c":3}')}`]);
	t.is(all[0], '{"a":1}\n');
	t.is(all.at(-1), '{"c":3}\n');
	t.true(all.length > 2);
});

test('any number of line ends between messages is nothing', t => {
	const ends = '\r\n'.repeat(10_000);
	t.deepEqual(cutFrames([frame('{"a":1}'), ends, frame('{"b":2}')]).all, ['{"a":1}\n', '{"b":2}\n']);
});

test('an empty message is none', t => {
	t.deepEqual(cutFrames([frame(''), frame('{"a":1}'), frame('')]).all, ['{"a":1}\n']);
});

test('a message cut off by the end of the stream is told as far as it came', t => {
	t.deepEqual(cutFrames([frame('{"a":1}').slice(0, -2)]).all, ['{"a":\n']);
});

test('a header cut off by the end of the stream is told as far as it came', t => {
	t.deepEqual(cutFrames([frame('{"a":1}'), 'Content-Le']).all, ['{"a":1}\n', 'Content-Le\n']);
});

test('a message exactly at the limit passes [A2]', t => {
	const body = request(LIMIT, '1');
	t.deepEqual(cutFrames([frame(body)]).all, [`${body}\n`]);
	t.deepEqual(cutFrames(bytesOf(Buffer.from(frame(body)))).all, [`${body}\n`]);
});

for (const over of [1, 2, 3, 50, 9000])
	test(`a message ${over} over the limit does not pass, and the next one is fine, wherever it is cut [A2]`, t => {
		const bytes = Buffer.from(frame(request(LIMIT + over, '1')) + frame('{"a":1}'));
		const cuts = [0, 1, 5, 20, 23, 24, 100, 122, 123, 124, 125, bytes.length - 30, bytes.length - 1];
		for (const at of cuts)
			t.deepEqual(cutFrames(piecesOf(bytes, [at])).all, [undefined, '{"a":1}\n'], `${at}`);
		t.deepEqual(cutFrames(bytesOf(bytes)).all, [undefined, '{"a":1}\n']);
	});

for (const over of [1, 2, 3, 50, 9000])
	test(`the id at the end of a message ${over} over the limit is found, wherever it is cut [A2]`, t => {
		const bytes = Buffer.from(frame(request(LIMIT + over, '"call 7"')));
		for (const at of [0, 24, 60, bytes.length - 40, bytes.length - 12, bytes.length - 5, bytes.length - 1])
			t.deepEqual(cutFrames(piecesOf(bytes, [at])).ids, ['"call 7"'], `${at}`);
	});

test('the id of one message over the limit is never that of another [A2]', t => {
	const nameless = `{"a":"${'x'.repeat(LIMIT + 1 - 8)}"}`;
	t.deepEqual(cutFrames([frame(request(5000, '1')), frame(nameless)]).ids, ['1', undefined]);
});

test('a message of a length beyond all measure is not held [A2]', async t => {
	const found: unknown[] = [];
	const cutter = contentLengthSplitter(1e6, {
		message: line => found.push(line),
		parts: () => t.fail(),
		tooLarge: () => found.push('too large'),
	});
	cutter.push(Buffer.from('Content-Length: 999999999999999\r\n\r\n'));
	const before = heldBytes();
	// Chunks of their own, as they come from a stream: one that is held costs memory.
	for (let count = 0; count < 4096; count++) cutter.push(Buffer.alloc(2 ** 16, 'x'));
	t.true(await holdsLess(before, 16e6));
	cutter.end();
	t.deepEqual(found, ['too large']);
});
