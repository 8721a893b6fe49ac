import test from 'ava';
import fc from 'fast-check';
import {contentLengthSplitter} from '../../lib/wire/content-length-splitter.js';
import {cutsOf, jsonText, space} from './arbitraries.js';
import {bytesOf, type Cutting, cut, piecesOf} from './cutting.js';
import {heldBytes, holdsLess} from './heap.js';

const LIMIT = 100;

const splitFrames = (pieces: readonly (Buffer | string)[], limit = LIMIT): Cutting =>
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

test('emits messages in order, wherever the stream is split in two [A1]', t => {
	for (let at = 0; at <= stream.length; at++)
		t.deepEqual(splitFrames(piecesOf(stream, [at])).lines, expected, `${at}`);
});

test('emits messages in order from single bytes [A1]', t => {
	t.deepEqual(splitFrames(bytesOf(stream)).lines, expected);
});

test('emits every message once and in order for any stream and any chunks [A1]', t => {
	const streams = fc.array(jsonText(space), {minLength: 1, maxLength: 10}).chain(texts => {
		const bytes = Buffer.from(texts.map(frame).join(''));
		return fc.tuple(fc.constant(texts), fc.constant(bytes), cutsOf(bytes.length));
	});
	fc.assert(
		fc.property(streams, ([texts, bytes, cuts]) => {
			const lines = texts.map(text => `${text.replace(/[\r\n]/g, ' ')}\n`);
			t.deepEqual(splitFrames(piecesOf(bytes, cuts), 1e6).all, lines);
		}),
		{numRuns: 1000},
	);
});

test('converts a multi-line message into one line with the same value', t => {
	const body = '{\r\n\t"a": [\n1,\r2]\n}';
	const {lines} = splitFrames([frame(body)]);
	t.deepEqual(lines, ['{  \t"a": [ 1, 2] }\n']);
	t.deepEqual(JSON.parse(lines.join('')), JSON.parse(body));
});

test('keeps a line break inside of a string, which is invalid JSON', t => {
	t.deepEqual(splitFrames([frame('{"a":"x\ny"}')]).lines, ['{"a":"x\ny"}\n']);
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
	test(`accepts a header ${name}, wherever it is split`, t => {
		const bytes = Buffer.from(`${header}{"a":1}${frame('{"b":2}')}`);
		for (let at = 0; at <= bytes.length; at++)
			t.deepEqual(splitFrames(piecesOf(bytes, [at])).all, ['{"a":1}\n', '{"b":2}\n'], `${at}`);
	});

for (const header of [
	'Content-Type: text/plain',
	'Content-Length: x',
	'Content-Length: -7',
	'Content-Length: 1e3',
	'Content-Length:',
])
	test(`rejects the header ${header}, which has no length, and reads the next message`, t => {
		const {all} = splitFrames([`${header}\r\n\r\n${frame('{"a":1}')}`]);
		t.deepEqual(all, [`${header}\n`, '{"a":1}\n']);
	});

test('rejects an endless header without buffering it', t => {
	const {all} = splitFrames([`Content-Type: ${'x'.repeat(100_000)}`]);
	t.true(all.length > 0);
	t.true(all.every(text => text?.length === 8193 || text?.startsWith('x') || text?.startsWith('C')));
	t.true(all.every(text => text !== undefined && text.length <= 8193));
});

test('rejects a line that is not a header without losing the next header', t => {
	const {all} = splitFrames([`${frame('{"a":1}')}{"b":2}\n${frame('{"c":3}')}`]);
	t.is(all[0], '{"a":1}\n');
	t.is(all.at(-1), '{"c":3}\n');
	t.true(all.length > 2);
});

test('skips any number of line breaks between messages', t => {
	const ends = '\r\n'.repeat(10_000);
	t.deepEqual(splitFrames([frame('{"a":1}'), ends, frame('{"b":2}')]).all, ['{"a":1}\n', '{"b":2}\n']);
});

test('skips empty messages', t => {
	t.deepEqual(splitFrames([frame(''), frame('{"a":1}'), frame('')]).all, ['{"a":1}\n']);
});

test('emits a truncated message at the end of the stream', t => {
	t.deepEqual(splitFrames([frame('{"a":1}').slice(0, -2)]).all, ['{"a":\n']);
});

test('rejects a truncated header at the end of the stream', t => {
	t.deepEqual(splitFrames([frame('{"a":1}'), 'Content-Le']).all, ['{"a":1}\n', 'Content-Le\n']);
});

test('accepts a message exactly at the limit [A2]', t => {
	const body = request(LIMIT, '1');
	t.deepEqual(splitFrames([frame(body)]).all, [`${body}\n`]);
	t.deepEqual(splitFrames(bytesOf(Buffer.from(frame(body)))).all, [`${body}\n`]);
});

for (const over of [1, 2, 3, 50, 9000])
	test(`rejects a message ${over} bytes over the limit and emits the next one, wherever it is split [A2]`, t => {
		const bytes = Buffer.from(frame(request(LIMIT + over, '1')) + frame('{"a":1}'));
		const cuts = [0, 1, 5, 20, 23, 24, 100, 122, 123, 124, 125, bytes.length - 30, bytes.length - 1];
		for (const at of cuts)
			t.deepEqual(splitFrames(piecesOf(bytes, [at])).all, [undefined, '{"a":1}\n'], `${at}`);
		t.deepEqual(splitFrames(bytesOf(bytes)).all, [undefined, '{"a":1}\n']);
	});

for (const over of [1, 2, 3, 50, 9000])
	test(`finds the id at the end of a message ${over} bytes over the limit, wherever it is split [A2]`, t => {
		const bytes = Buffer.from(frame(request(LIMIT + over, '"call 7"')));
		for (const at of [0, 24, 60, bytes.length - 40, bytes.length - 12, bytes.length - 5, bytes.length - 1])
			t.deepEqual(splitFrames(piecesOf(bytes, [at])).ids, ['"call 7"'], `${at}`);
	});

test('does not mix up the ids of messages over the limit [A2]', t => {
	const nameless = `{"a":"${'x'.repeat(LIMIT + 1 - 8)}"}`;
	t.deepEqual(splitFrames([frame(request(5000, '1')), frame(nameless)]).ids, ['1', undefined]);
});

test('does not buffer a message with a huge length [A2]', async t => {
	const found: unknown[] = [];
	const splitter = contentLengthSplitter(1e6, {
		message: line => found.push(line),
		parts: () => t.fail(),
		tooLarge: () => found.push('too large'),
	});
	splitter.push(Buffer.from('Content-Length: 999999999999999\r\n\r\n'));
	const before = heldBytes();
	// Separate chunks, as from a stream, so that a retained chunk uses memory.
	for (let count = 0; count < 4096; count++) splitter.push(Buffer.alloc(2 ** 16, 'x'));
	t.true(await holdsLess(before, 16e6));
	splitter.end();
	t.deepEqual(found, ['too large']);
});
