import test from 'ava';
import fc from 'fast-check';
import {detectFraming, type Framing} from '../../lib/wire/framing.js';
import {blank, cutsOf, jsonText} from './arbitraries.js';
import {bytesOf, type Cutting, cut, piecesOf} from './cutting.js';
import {heldBytes, holdsLess} from './heap.js';

const BOM = '\ufeff';

/** The messages and the detected framings. */
function detect(pieces: readonly (Buffer | string)[]): Cutting & {framings: Framing[]} {
	const framings: Framing[] = [];
	const cutting = cut(cuts => detectFraming(1e6, cuts, framing => framings.push(framing)), pieces);
	return {...cutting, framings};
}

const frame = (body: string): string => `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

for (const [name, leader] of Object.entries({
	nothing: '',
	'empty lines': '\r\n\n \t\n',
	'a byte order mark': BOM,
	'a byte order mark and an empty line': `${BOM}\r\n`,
})) {
	test(`detects lines after ${name}, wherever the stream is split [A1]`, t => {
		const bytes = Buffer.from(`${leader}{"a":"é"}\n{"b":2}\r\n`);
		for (const pieces of [...bytes.keys()].map(at => piecesOf(bytes, [at])).concat([bytesOf(bytes)])) {
			const {all, framings} = detect(pieces);
			t.deepEqual(all, ['{"a":"é"}\n', '{"b":2}\n']);
			t.deepEqual(framings, ['lines']);
		}
	});

	test(`detects frames after ${name}, wherever the stream is split [A1]`, t => {
		const bytes = Buffer.from(`${leader}${frame('{"a":"é"}')}${frame('{"b":2}')}`);
		for (const pieces of [...bytes.keys()].map(at => piecesOf(bytes, [at])).concat([bytesOf(bytes)])) {
			const {all, framings} = detect(pieces);
			t.deepEqual(all, ['{"a":"é"}\n', '{"b":2}\n']);
			t.deepEqual(framings, ['content-length']);
		}
	});
}

for (const header of [
	'content-length: 7\r\n\r\n',
	'CONTENT-LENGTH:7\n\n',
	'Content-Type: x\r\nContent-Length: 7\r\n\r\n',
])
	test(`detects frames in a stream that starts with ${JSON.stringify(header)}`, t => {
		const {all, framings} = detect([`${header}{"a":1}`]);
		t.deepEqual([all, framings], [['{"a":1}\n'], ['content-length']]);
	});

test('detects lines in any other stream, even if its first word resembles the header', t => {
	for (const first of ['{}', '[1]', 'Listening', 'Contact', 'Content', '"Content-Length: 7"', 'C']) {
		const {all, framings} = detect([`${first}\n{"a":1}\n`]);
		t.deepEqual([all, framings], [[`${first}\n`, '{"a":1}\n'], ['lines']], first);
	}
});

test('keeps the detected framing', t => {
	const {framings, lines} = detect(['{"a":1}\n', frame('{"b":2}'), '\n']);
	t.deepEqual(framings, ['lines']);
	t.deepEqual(lines, ['{"a":1}\n', 'Content-Length: 7\n', '{"b":2}\n']);
});

test('reports the framing before the first message', t => {
	const events: string[] = [];
	const cuts = {
		message: () => void events.push('message'),
		parts: () => {},
		tooLarge: () => void events.push('too large'),
	};
	detectFraming(1e6, cuts, framing => events.push(framing)).push(Buffer.from(frame('{}')));
	t.deepEqual(events, ['content-length', 'message']);
});

test('uses lines if the stream ends before the framing is detected', t => {
	t.deepEqual(detect(['Cont']).lines, ['Cont\n']);
	t.deepEqual(detect([]).framings, ['lines']);
});

test('emits nothing for a stream of white space and a byte order mark', t => {
	for (const text of ['', '\n', ' \r\n\t', BOM, `${BOM}\n`, `${BOM}\r\n \n`])
		for (const pieces of [[text], bytesOf(Buffer.from(text))])
			t.deepEqual(detect(pieces).all, [], JSON.stringify(text));
});

test('skips one byte order mark at the start and keeps all others [A7]', t => {
	t.deepEqual(detect([`${BOM}${BOM}{"a":1}\n`]).lines, [`${BOM}{"a":1}\n`]);
	t.deepEqual(detect([`{"a":1}\n${BOM}{"b":2}\n`]).lines, ['{"a":1}\n', `${BOM}{"b":2}\n`]);
});

test('keeps blanks before the first message', t => {
	for (const pieces of [[' \t{"a":1} \n'], bytesOf(Buffer.from(' \t{"a":1} \n'))])
		t.deepEqual(detect(pieces).lines, [' \t{"a":1} \n']);
});

test('keeps control characters before the first message', t => {
	for (const control of ['\0', '\x01', '\x0b', '\x1b'])
		t.deepEqual(detect([`${control}{"a":1}\n`]).lines, [`${control}{"a":1}\n`], JSON.stringify(control));
});

test('emits the lines of any stream unchanged, wherever it is split [A1]', t => {
	const line = fc.tuple(blank, jsonText(blank), blank).map(parts => parts.join(''));
	const streams = fc.array(line, {minLength: 1, maxLength: 5}).chain(texts => {
		const bytes = Buffer.from(texts.map(text => `${text}\n`).join(''));
		return fc.tuple(fc.constant(bytes), cutsOf(bytes.length));
	});
	fc.assert(
		fc.property(
			streams,
			([bytes, cuts]) => detect(piecesOf(bytes, cuts)).lines.join('') === bytes.toString(),
		),
		{numRuns: 500},
	);
	t.pass();
});

test('does not buffer endless white space before the first message [A2]', async t => {
	const found: string[] = [];
	const splitter = detectFraming(1000, {
		message: line => found.push(String(line)),
		parts: () => {},
		tooLarge: () => {},
	});
	const chunk = Buffer.alloc(2 ** 20, ' ');
	const before = heldBytes();
	for (let count = 0; count < 16; count++) splitter.push(chunk);
	t.true(await holdsLess(before, 4e6));
	splitter.push(Buffer.from('\n{"a":1}\n'));
	t.deepEqual(found, ['{"a":1}\n']);
});
