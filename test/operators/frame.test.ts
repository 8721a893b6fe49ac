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

/** A text cut into pieces at these places. */
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

test('cuts lines into the same messages wherever their chunks end', async t => {
	await fc.assert(
		fc.asyncProperty(anyMessages, anyPlaces, async (messages, places) => {
			const source = from(cut(`${messages.join('\n')}\n`, places));
			t.deepEqual(texts(await framed(source)), messages);
		}),
	);
});

test('cuts Content-Length frames into the same messages wherever their chunks end', async t => {
	await fc.assert(
		fc.asyncProperty(anyMessages, anyPlaces, async (messages, places) => {
			const frames = messages.map(text => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
			const source = from(cut(frames.join(''), places));
			t.deepEqual(texts(await framed(source, {onFraming: () => {}})), messages);
		}),
	);
});

test('gives each message the origin that it came from', async t => {
	const [message] = await framed(chunks('{"a":1}\n'));
	t.is(message?.origin, origin);
	t.true(message?.isReceived);
});

test('tells once which framing the sender uses', async t => {
	const found: string[] = [];
	const onFraming = (framing: string) => void found.push(framing);
	await framed(chunks('Content-', 'Length: 2\r\n\r\n{}Content-Length: 2\r\n\r\n{}'), {onFraming});
	await framed(chunks('{}\n{}\n'), {onFraming});
	t.deepEqual(found, ['content-length', 'lines']);
});

test('expects lines where nobody asks for the framing', async t => {
	t.deepEqual(texts(await framed(chunks('Content-Length: 2\n{}\n'))), ['Content-Length: 2', '{}']);
});

test('steps over a byte order mark, blank lines and carriage returns', async t => {
	const source = chunks('\ufeff\n\r\n{"a":1}\r\n', '   \n\n{"b":2}\n');
	t.deepEqual(texts(await framed(source, {onFraming: () => {}})), ['{"a":1}', '{"b":2}']);
});

test('takes what follows the last line feed for a message', async t => {
	t.deepEqual(texts(await framed(chunks('{"a":1}\n{"b"', ':2}'))), ['{"a":1}', '{"b":2}']);
});

for (const [what, start, end] of [
	['at its start', '{"jsonrpc":"2.0","id":7,"method":"m","params":"', '"}'],
	['at its end', '{"jsonrpc":"2.0","params":"', '","id":7}'],
] as const)
	test(`skips a message over the limit, with its id where that is ${what}, and goes on`, async t => {
		const long = `${start}${'x'.repeat(10_000)}${end}`;
		const [first, second, ...rest] = await framed(chunks(`${long}\n{"a":1}\n`), {maxBytes: 1000});
		t.like(first?.head, {flaw: 'too large', id: '7'});
		t.is(second?.bytes.toString(), '{"a":1}');
		t.deepEqual(rest, []);
	});

test('keeps no more than the ends of a message over the limit', async t => {
	const [first] = await framed(from(Array.from({length: 100}, () => Buffer.alloc(10_000, 'x'))), {
		maxBytes: 100_000,
	});
	t.is(first?.head.flaw, 'too large');
	t.true((first?.size ?? 0) <= 8192, `${first?.size} bytes were kept`);
});

test('takes a message of just the limit', async t => {
	const text = `{"a":"${'x'.repeat(92)}"}`;
	t.is(text.length, 100);
	const [first, second] = await framed(chunks(`${text}\n${text.replace('x', 'xx')}\n`), {maxBytes: 100});
	t.is(first?.bytes.toString(), text);
	t.is(second?.head.flaw, 'too large');
});

test('passes the failure of its source on, after the message before it', async t => {
	const seen: string[] = [];
	const source = concat(
		chunks('{"a":1}'),
		throwError(() => new Error('gone')),
	);
	const failed = new Promise<Error>(error => {
		source.pipe(frame(origin)).subscribe({next: ({bytes}) => seen.push(bytes.toString()), error});
	});
	t.is((await failed).message, 'gone');
	t.deepEqual(seen, ['{"a":1}']);
});
