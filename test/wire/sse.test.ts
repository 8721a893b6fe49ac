import test from 'ava';
import {createParser} from 'eventsource-parser';
import fc from 'fast-check';
import {formatSseEvent, SseParser} from '../../lib/wire/sse.js';
import {cutsOf} from './arbitraries.js';
import {bytesOf, piecesOf} from './cutting.js';
import {heldBytes, holdsLess} from './heap.js';

type Found = {
	readonly data?: string | undefined;
	readonly event?: string | undefined;
	readonly id?: string | undefined;
	readonly retryMs?: number | undefined;
	/** The id of a message over the limit. */
	readonly tooLarge?: string | undefined;
};

/** Returns the object without undefined members. */
const defined = <T extends object>(value: T): Partial<T> =>
	Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Partial<T>;

/** Runs chunks through a parser. Data is read only at the end, like by a slow receiver. */
function parse(pieces: ReadonlyArray<Buffer | string>, limit = 1000): Found[] {
	const found: Array<() => Found> = [];
	const parser = new SseParser(limit, {
		event: ({line, data, event, id, retryMs}) =>
			found.push(() => {
				if (line.at(-1) !== 0x0a || data.length !== line.length - 1) throw new Error('not a line');
				return defined({data: String(data), event, id, retryMs});
			}),
		tooLarge: (_start, {id}, fields) => found.push(() => ({tooLarge: id, ...defined(fields)})),
	});
	// Each chunk is a copy, since the parser may modify its chunks.
	for (const piece of pieces) parser.push(Buffer.from(piece));
	return found.map(read => read());
}

test('emits an event at an empty line and drops an unfinished one at the end of the stream', t => {
	t.deepEqual(parse(['data: a\n']), []);
	t.deepEqual(parse(['data: a\n\n']), [{data: 'a'}]);
});

test('joins data lines and removes one space after the colon [A18]', t => {
	t.deepEqual(parse(['data: a\ndata:b\ndata:  c\ndata\n\n']), [{data: 'a\nb\n c\n'}]);
});

test('parses the event name, id and retry time [A18]', t => {
	t.deepEqual(parse(['event: endpoint\nid: 7\nretry: 300\ndata:\n\ndata: x\n\n']), [
		{event: 'endpoint', id: '7', retryMs: 300, data: ''},
		{data: 'x'},
	]);
});

test('emits an id or a retry time without data, but not an event name alone [A18]', t => {
	t.deepEqual(parse(['id: 7\n\nretry: 5\n\nevent: x\n\n']), [
		{id: '7', data: ''},
		{retryMs: 5, data: ''},
	]);
});

test('ignores comments, unknown fields and empty events [A18]', t => {
	t.deepEqual(parse([': hello\n\nfoo\ndatas: 1\ndat: 2\nDATA: 3\n:\ndata: a\n\n\n']), [{data: 'a'}]);
});

test('ignores an id with a NUL and a retry time that is not a number [A18]', t => {
	t.deepEqual(parse(['id: 1\nid: 2\0\nretry: 1s\nretry: -1\ndata: a\n\n']), [{id: '1', data: 'a'}]);
});

test('limits the retry time to the longest timer delay [A18]', t => {
	t.deepEqual(parse([`retry: ${'9'.repeat(400)}\n\n`]), [{retryMs: 2 ** 31 - 1, data: ''}]);
});

test('accepts all three line endings [A18]', t => {
	t.deepEqual(parse(['data: a\r\n\r\ndata: b\r\rdata: c\n\n']), [{data: 'a'}, {data: 'b'}, {data: 'c'}]);
});

test('emits an event immediately after its last carriage return [A18]', t => {
	t.deepEqual(parse(['data: a\r\r']), [{data: 'a'}]);
	t.deepEqual(parse(['data: a\r', '\n\r', '\ndata: b\r\n\r\n']), [{data: 'a'}, {data: 'b'}]);
});

test('skips a byte order mark at the start only, wherever it is split [A18]', t => {
	const bytes = Buffer.from('\ufeffdata: a\n\n\ufeffdata: b\n\n');
	for (let at = 0; at <= bytes.length; at++)
		t.deepEqual(parse(piecesOf(bytes, [at])), [{data: 'a'}], `${at}`);
	const half = Buffer.concat([bytes.subarray(0, 2), Buffer.from('data: a\ndata: b\n\n')]);
	for (let at = 0; at <= half.length; at++) t.deepEqual(parse(piecesOf(half, [at])), [{data: 'b'}], `${at}`);
});

const ending = fc.constantFrom('\n', '\r', '\r\n', '\n\n', '\r\n\r\n', '\r\r');
const field = fc.constantFrom('data: ', 'data:', 'data', 'id: ', 'event: ', 'retry: ', ': ', 'datas: ', '');
const value = fc.constantFrom('', ' ', ':', '\0', 'é', '😀', '\u2028', '12', '{"a":1}', 'data', 'endpoint');
const line = fc.tuple(field, value, value, ending).map(parts => parts.join(''));
const piece = fc.oneof({arbitrary: line, weight: 3}, value, ending);
const stream = fc
	.array(piece, {maxLength: 20})
	.map(pieces => Buffer.from(`${pieces.join('')}\n\n`))
	.chain(bytes => fc.tuple(fc.constant(bytes), cutsOf(bytes.length)));

/** The events that eventsource-parser emits for a stream. */
function reference(bytes: Buffer): {events: Found[]; retries: number[]} {
	const events: Found[] = [];
	const retries: number[] = [];
	const parser = createParser({
		onEvent: ({data, event, id}) => events.push(defined({data, event, id})),
		onRetry: ms => retries.push(ms),
	});
	parser.feed(new TextDecoder().decode(bytes));
	return {events, retries};
}

test('emits the same events as eventsource-parser, wherever the stream is split [A18]', t => {
	let count = 0;
	const property = fc.property(stream, ([bytes, cuts]) => {
		const expected = reference(bytes);
		const isOf = ({data}: Found): boolean => data !== '';
		for (const pieces of [piecesOf(bytes, cuts), bytesOf(bytes)]) {
			const found = parse(pieces).map(({retryMs, ...event}) => event);
			t.deepEqual(found.filter(isOf), expected.events.filter(isOf));
		}
		count += expected.events.length;
	});
	fc.assert(property, {numRuns: 2000});
	t.true(count > 500);
});

test('emits the same retry times as eventsource-parser [A18]', t => {
	const times = fc.array(fc.constantFrom('retry: 1\n', 'retry:20\r\n', 'retry: x\n', 'retry\n', ': c\n'), {
		maxLength: 5,
	});
	fc.assert(
		fc.property(times, lines => {
			const bytes = Buffer.from(lines.map(line => `${line}\n`).join(''));
			const found = parse(bytesOf(bytes)).flatMap(({retryMs}) => retryMs ?? []);
			t.deepEqual(found, reference(bytes).retries);
		}),
	);
});

test('does not copy data received in one chunk', t => {
	const chunk = Buffer.from('data: {"a":1}\n\ndata:{"b":2}\r\n\r\n');
	const lines: Buffer[] = [];
	new SseParser(1000, {event: ({line}) => lines.push(line), tooLarge: () => t.fail()}).push(chunk);
	t.deepEqual(lines.map(String), ['{"a":1}\n', '{"b":2}\n']);
	t.true(lines.every(line => line.buffer === chunk.buffer));
});

test('keeps bytes that are not UTF-8', t => {
	const data = Buffer.from([0xff, 0x22, 0xc3]);
	const found: Buffer[] = [];
	const parser = new SseParser(1000, {event: event => found.push(event.data), tooLarge: () => t.fail()});
	for (const byte of bytesOf(Buffer.concat([Buffer.from('data: '), data, Buffer.from('\n\n')])))
		parser.push(byte);
	t.deepEqual(found, [data]);
});

const message = (size: number): string => {
	const start = '{"jsonrpc":"2.0","id":"c 7","result":["';
	return `${start}${'x'.repeat(size - start.length - 3)}"]}`;
};

test('accepts data at the limit and reports the id of larger data, wherever it is split [A18]', t => {
	const bytes = Buffer.from(
		`id: 1\ndata: ${message(100)}\n\nid: 2\ndata: ${message(101)}\r\n\r\ndata: a\n\n`,
	);
	const expected = [{id: '1', data: message(100)}, {tooLarge: '"c 7"', id: '2'}, {data: 'a'}];
	for (let at = 0; at <= bytes.length; at++)
		t.deepEqual(parse(piecesOf(bytes, [at]), 100), expected, `${at}`);
	t.deepEqual(parse(bytesOf(bytes), 100), expected);
});

test('applies the limit to all data lines together [A18]', t => {
	t.deepEqual(parse([`data: 12345\ndata: 12345\n\ndata: 12345\ndata: 1234\n\n`], 10), [
		{tooLarge: undefined},
		{data: '12345\n1234'},
	]);
});

for (const [name, start] of [
	['data', 'data: '],
	['comments', ': '],
	['names of fields', ''],
	['ids', 'id: '],
] as const)
	test(`does not buffer endless ${name}, and emits the next event [A18]`, async t => {
		const found: string[] = [];
		const parser = new SseParser(1e6, {event: ({data}) => found.push(String(data)), tooLarge: () => {}});
		parser.push(Buffer.from(start));
		const before = heldBytes();
		for (let count = 0; count < 4096; count++) parser.push(Buffer.alloc(2 ** 16, 'x'));
		t.true(await holdsLess(before, 16e6));
		parser.push(Buffer.from('\n\ndata: a\n\n'));
		t.deepEqual(found, ['a']);
	});

test('emits a message of 64 MiB received in small chunks [A18]', t => {
	const size = 64 * 2 ** 20;
	const lines: Buffer[] = [];
	const parser = new SseParser(size, {event: ({line}) => lines.push(line), tooLarge: () => t.fail()});
	parser.push(Buffer.from('data:'));
	for (let sent = 0; sent < size; sent += 1024) parser.push(Buffer.alloc(1024, 0x61 + ((sent / 1024) % 26)));
	parser.push(Buffer.from('\n\n'));
	t.is(lines[0]?.length, size + 1);
	t.is(lines[0]?.[1024 * 27], 0x62);
});

test('parses a chunk of a million lines [A18]', t => {
	let events = 0;
	const parser = new SseParser(1000, {event: () => events++, tooLarge: () => t.fail()});
	parser.push(Buffer.from(`${'data:\n\n'.repeat(500_000)}\r`));
	t.is(events, 500_000);
});

test('serializes the fields of an event', t => {
	t.is(String(formatSseEvent({data: Buffer.from('{}')})), 'data: {}\n\n');
	t.is(
		String(formatSseEvent({event: 'message', id: '7', retryMs: 300, data: Buffer.alloc(0)})),
		'event: message\nid: 7\nretry: 300\ndata: \n\n',
	);
});

test('replaces line breaks in an event name or an id', t => {
	t.is(
		String(formatSseEvent({event: 'a\nb', id: 'c\r\nd', data: Buffer.from('e')})),
		'event: a b\nid: c  d\ndata: e\n\n',
	);
});

test('parses what it serialized, with line feeds as line endings', t => {
	const data = fc.array(fc.constantFrom('\r', '\n', '\r\n', ' ', 'a', 'é', '{"a":\n1}'), {maxLength: 8});
	fc.assert(
		fc.property(
			data,
			fc.option(fc.string({unit: fc.constantFrom('a', '-', '7'), minLength: 1})),
			(parts, id) => {
				const text = parts.join('');
				const bytes = formatSseEvent({...(id === null ? {} : {id}), data: Buffer.from(text)});
				const expected = {...(id === null ? {} : {id}), data: text.replaceAll(/\r\n?/g, '\n')};
				t.deepEqual(parse([bytes]), [expected]);
			},
		),
	);
});
