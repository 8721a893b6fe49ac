import {PassThrough, Readable, Writable} from 'node:stream';
import {setImmediate} from 'node:timers/promises';
import test from 'ava';
import {lastValueFrom, map, toArray} from 'rxjs';
import {Envelope, type MessageOrigin} from '../../../lib/core/envelope.js';
import {Valve} from '../../../lib/core/valve.js';
import {frame} from '../../../lib/operators/frame.js';
import {fromReadable, toWritable} from '../../../lib/transports/stdio/message-streams.js';
import {until} from '../../helpers/pipeline.js';

const origin = (): MessageOrigin => ({name: 'client', valve: new Valve()});
const message = (id: number, from = origin()): Envelope => Envelope.of({id}, from);

/** A stream that completes one write per call of `completeWrite`. */
function slow(highWaterMark: number): {stream: Writable; writes: string[]; completeWrite(): void} {
	const pendingWrites: Array<() => void> = [];
	const writes: string[] = [];
	const stream = new Writable({
		highWaterMark,
		write(chunk, _encoding, done) {
			writes.push(String(chunk));
			pendingWrites.push(done);
		},
		writev(chunks, done) {
			writes.push(chunks.map(({chunk}) => String(chunk)).join(''));
			pendingWrites.push(done);
		},
	});
	return {stream, writes, completeWrite: () => pendingWrites.shift()?.()};
}

test.serial('reads a stream to its end', async t => {
	const chunks = await lastValueFrom(
		fromReadable(Readable.from([Buffer.from('a'), Buffer.from('b')]), new Valve()).pipe(toArray()),
	);
	t.is(Buffer.concat(chunks).toString(), 'ab');
});

test.serial('ends when its stream is closed without an end', async t => {
	const stream = new PassThrough();
	const result = lastValueFrom(fromReadable(stream, new Valve()).pipe(toArray()));
	stream.destroy();
	t.deepEqual(await result, []);
});

test.serial('fails when its stream fails', async t => {
	const stream = new PassThrough();
	const result = lastValueFrom(fromReadable(stream, new Valve()).pipe(toArray()));
	stream.destroy(new Error('broken'));
	await t.throwsAsync(result, {message: 'broken'});
});

test.serial('does not read its stream while the valve is shut', async t => {
	const stream = new PassThrough({highWaterMark: 1});
	const valve = new Valve();
	const seen: string[] = [];
	let open = (): void => {};
	fromReadable(stream, valve).subscribe(chunk => {
		seen.push(String(chunk));
		if (seen.length === 1) open = valve.shut();
	});
	stream.write('a');
	await until(() => seen.length === 1);
	stream.write('b');
	for (let turn = 0; turn < 10; turn++) await setImmediate();
	t.deepEqual(seen, ['a']);
	open();
	await until(() => seen.length === 2);
	t.deepEqual(seen, ['a', 'b']);
});

test.serial('stays paused when the valve opens after the unsubscription', async t => {
	const stream = new PassThrough();
	const valve = new Valve();
	let open = (): void => {};
	const reading = fromReadable(stream, valve).subscribe(() => {
		open = valve.shut();
	});
	stream.write('a');
	await until(() => !valve.isOpen);
	reading.unsubscribe();
	open();
	t.true(stream.isPaused());
});

test.serial('writes one message per line', async t => {
	const stream = new PassThrough();
	const out = toWritable(stream);
	out.next(message(1));
	out.next(message(2));
	out.complete();
	t.is((await stream.toArray()).map(String).join(''), '{"id":1}\n{"id":2}\n');
});

test.serial('writes messages with Content-Length headers in that framing', async t => {
	const stream = new PassThrough();
	const out = toWritable(stream, () => 'content-length');
	out.next(Envelope.of({text: 'ü'}));
	out.next(message(2));
	out.complete();
	t.is(
		(await stream.toArray()).map(String).join(''),
		'Content-Length: 13\r\n\r\n{"text":"ü"}Content-Length: 8\r\n\r\n{"id":2}',
	);
});

test.serial('shuts the origins of messages that fill the stream, until it drains', async t => {
	const {stream, completeWrite} = slow(10);
	const [one, other, third] = [origin(), origin(), origin()];
	const out = toWritable(stream);
	out.next(message(1, one));
	out.next(message(2, other));
	await until(() => !one.valve.isOpen);
	t.false(other.valve.isOpen);
	t.true(third.valve.isOpen);
	completeWrite();
	await until(() => one.valve.isOpen);
	t.true(other.valve.isOpen);
});

test.serial('does not shut origins below the high-water mark', async t => {
	const {stream, writes} = slow(1000);
	const from = origin();
	toWritable(stream).next(message(1, from));
	await until(() => writes.length === 1);
	t.true(from.valve.isOpen);
});

test.serial('opens the shut valves when its stream is closed', async t => {
	const {stream} = slow(1);
	const from = origin();
	toWritable(stream).next(message(1, from));
	await until(() => !from.valve.isOpen);
	stream.destroy();
	await until(() => from.valve.isOpen);
	t.pass();
});

test.serial('drops messages after its stream is closed', async t => {
	const {stream, writes} = slow(1);
	const out = toWritable(stream);
	stream.destroy();
	const from = origin();
	out.next(message(1, from));
	await setImmediate();
	out.complete();
	t.true(from.valve.isOpen);
	t.deepEqual(writes, []);
});

test.serial('writes messages of the same turn before it ends the stream', async t => {
	const stream = new PassThrough();
	const out = toWritable(stream);
	out.next(message(1));
	out.complete();
	t.is((await stream.toArray()).map(String).join(''), '{"id":1}\n');
});

test.serial('writes the lines of one chunk in one write', async t => {
	const text = '{"a":1}\n{"b":2}\n{"c":3}\n';
	const {stream, writes} = slow(1000);
	const from = origin();
	fromReadable(Readable.from([Buffer.from(text)], {objectMode: false}), from.valve)
		.pipe(frame(from))
		.subscribe(toWritable(stream));
	await until(() => writes.length > 0);
	t.deepEqual(writes, [text]);
});

test.serial('writes the messages of one chunk in one write, although one was changed', async t => {
	const {stream, writes} = slow(1000);
	const from = origin();
	fromReadable(Readable.from([Buffer.from('{"a":1}\n{"b":2}\n{"c":3}\n')], {objectMode: false}), from.valve)
		.pipe(
			frame(from),
			map(envelope => ('b' in envelope.body ? envelope.with({b: 5}) : envelope)),
		)
		.subscribe(toWritable(stream));
	await until(() => writes.join('').endsWith('{"c":3}\n'));
	t.deepEqual(writes, ['{"a":1}\n{"b":5}\n{"c":3}\n']);
});

test.serial('preserves the order of messages from chunks and messages from bridge', async t => {
	const {stream, writes, completeWrite} = slow(100_000);
	const out = toWritable(stream);
	const source = new PassThrough();
	const from = origin();
	fromReadable(source, from.valve).pipe(frame(from)).subscribe(out);
	out.next(message(1));
	source.write('{"id":2}\n');
	await until(() => {
		completeWrite();
		return writes.join('').includes('{"id":2}');
	});
	out.next(message(3));
	await until(() => {
		completeWrite();
		return writes.join('').includes('{"id":3}');
	});
	t.is(writes.join(''), '{"id":1}\n{"id":2}\n{"id":3}\n');
});
