import test from 'ava';
import fc from 'fast-check';
import {concat, from, lastValueFrom, type Observable, throwError, toArray} from 'rxjs';
import type {Envelope, MessageOrigin} from '../../lib/core/envelope.js';
import {Valve} from '../../lib/core/valve.js';
import {type FrameOptions, frame} from '../../lib/operators/frame.js';

const origin: MessageOrigin = {name: 'client', valve: new Valve()};

const chunks = (...texts: string[]): Observable<Buffer> => from(texts.map(text => Buffer.from(text)));

const framed = (source: Observable<Buffer>, options?: FrameOptions): Promise<Envelope[]> =>
	lastValueFrom(source.pipe(frame(origin, options), toArray()));

const texts = (envelopes: readonly Envelope[]): string[] => envelopes.map(({bytes}) => bytes.toString());

/** Splits a text at these places. */
function cut(text: string, places: readonly number[]): Buffer[] {
	const bytes = Buffer.from(text);
	const ends = [...new Set(places.map(place => place % bytes.length)), bytes.length].sort((a, b) => a - b);
	return ends.map((end, index) => Buffer.from(bytes.subarray(ends[index - 1] ?? 0, end)));
}

const anyMessages = fc.array(
	fc.jsonValue().map(params => JSON.stringify({jsonrpc: '2.0', method: 'm', params})),
	{
		minLength: 1,
	},
);
const anyPlaces = fc.array(fc.nat());

test('splits lines into the same messages wherever their chunks end', async t => {
	await fc.assert(
		fc.asyncProperty(anyMessages, anyPlaces, async (messages, places) => {
			const source = from(cut(`${messages.join('\n')}\n`, places));
			t.deepEqual(texts(await framed(source)), messages);
		}),
	);
});

test('splits Content-Length frames into the same messages wherever their chunks end', async t => {
	await fc.assert(
		fc.asyncProperty(anyMessages, anyPlaces, async (messages, places) => {
			const frames = messages.map(text => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
			const source = from(cut(frames.join(''), places));
			t.deepEqual(texts(await framed(source, {onFraming: () => {}})), messages);
		}),
	);
});

test('sets the origin of each message', async t => {
	const [message] = await framed(chunks('{"a":1}\n'));
	t.is(message?.origin, origin);
	t.true(message?.isReceived);
});

test('reports the framing of the sender once', async t => {
	const found: string[] = [];
	const onFraming = (framing: string) => void found.push(framing);
	await framed(chunks('Content-', 'Length: 2\r\n\r\n{}Content-Length: 2\r\n\r\n{}'), {onFraming});
	await framed(chunks('{}\n{}\n'), {onFraming});
	t.deepEqual(found, ['content-length', 'lines']);
});

test('expects lines without an onFraming callback', async t => {
	t.deepEqual(texts(await framed(chunks('Content-Length: 2\n{}\n'))), ['Content-Length: 2', '{}']);
});

test('skips a byte order mark, blank lines and carriage returns', async t => {
	const source = chunks('\ufeff\n\r\n{"a":1}\r\n', '   \n\n{"b":2}\n');
	t.deepEqual(texts(await framed(source, {onFraming: () => {}})), ['{"a":1}', '{"b":2}']);
});

test('emits the text after the last line feed as a message', async t => {
	t.deepEqual(texts(await framed(chunks('{"a":1}\n{"b"', ':2}'))), ['{"a":1}', '{"b":2}']);
});

for (const [where, start, end] of [
	['at its start', '{"jsonrpc":"2.0","id":7,"method":"m","params":"', '"}'],
	['at its end', '{"jsonrpc":"2.0","params":"', '","id":7}'],
] as const)
	test(`reports the id ${where} of a message over the limit, and continues with the next`, async t => {
		const long = `${start}${'x'.repeat(10_000)}${end}`;
		const [first, second, ...rest] = await framed(chunks(`${long}\n{"a":1}\n`), {maxBytes: 1000});
		t.like(first?.head, {flaw: 'too large', id: '7'});
		t.is(second?.bytes.toString(), '{"a":1}');
		t.deepEqual(rest, []);
	});

test('retains only the start and the end of a message over the limit', async t => {
	const [first] = await framed(from(Array.from({length: 100}, () => Buffer.alloc(10_000, 'x'))), {
		maxBytes: 100_000,
	});
	t.is(first?.head.flaw, 'too large');
	t.true((first?.size ?? 0) <= 8192, `${first?.size} bytes were kept`);
});

test('accepts a message whose size is exactly the limit', async t => {
	const text = `{"a":"${'x'.repeat(92)}"}`;
	t.is(text.length, 100);
	const [first, second] = await framed(chunks(`${text}\n${text.replace('x', 'xx')}\n`), {maxBytes: 100});
	t.is(first?.bytes.toString(), text);
	t.is(second?.head.flaw, 'too large');
});

test('forwards the error of its source after the last message', async t => {
	const seen: string[] = [];
	const source = concat(
		chunks('{"a":1}'),
		throwError(() => new Error('closed')),
	);
	const failed = new Promise<Error>(error => {
		source.pipe(frame(origin)).subscribe({next: ({bytes}) => seen.push(bytes.toString()), error});
	});
	t.is((await failed).message, 'closed');
	t.deepEqual(seen, ['{"a":1}']);
});
