import test from 'ava';
import {Envelope, type MessageOrigin} from '../../../lib/core/envelope.js';
import {Valve} from '../../../lib/core/valve.js';
import {SendBuffer} from '../../../lib/upstream/share/send-buffer.js';
import {until} from '../../helpers/pipeline.js';

const LIMIT = 1000;

function outbox(graceMs = 60_000) {
	const origin: MessageOrigin = {name: 'files', valve: new Valve()};
	const delivered: string[] = [];
	const stalls: number[] = [];
	let holds = 0;
	let react = (): void => {};
	const box = new SendBuffer({
		valve: origin.valve,
		deliver(envelope) {
			delivered.push(envelope.bytes.toString());
			react();
		},
		shutSender: () => {
			holds++;
			return () => holds--;
		},
		onStalled: bytes => stalls.push(bytes),
		maxBytes: LIMIT,
		graceMs,
	});
	const add = (text: string): void => box.add(Envelope.received(Buffer.from(`${text}\n`), origin));
	const onDelivered = (next: () => void): void => {
		react = next;
	};
	return {box, add, valve: origin.valve, delivered, stalls, holds: () => holds, onDelivered};
}

test('what can be delivered is not held', t => {
	const {add, delivered, holds} = outbox();
	for (const text of ['1', '2']) add(text);
	t.deepEqual(delivered, ['1', '2']);
	t.is(holds(), 0);
});

test('who does not read is not read, either, and hears all in order when it reads', t => {
	const {add, valve, delivered, stalls, holds} = outbox();
	const open = valve.shut();
	for (const text of ['1', '2', '3']) add(text);
	t.deepEqual(delivered, []);
	t.is(holds(), 1);
	open();
	t.deepEqual(delivered, ['1', '2', '3']);
	t.is(holds(), 0);
	add('4');
	t.is(delivered.at(-1), '4');
	t.deepEqual(stalls, []);
});

test('what comes while it is caught up with comes last', t => {
	const {add, valve, delivered} = outbox();
	const open = valve.shut();
	add('1');
	valve.whenOpen(() => add('2'));
	add('3');
	open();
	t.deepEqual(delivered, ['1', '3', '2']);
});

test('one that takes one at a time gets all of it', t => {
	const {add, valve, delivered, onDelivered} = outbox();
	let open = valve.shut();
	onDelivered(() => {
		open = valve.shut();
	});
	const texts = Array.from({length: 300}, (_, at) => String(at % 10));
	for (const text of texts) add(text);
	for (let count = 0; count < texts.length; count++) {
		t.is(delivered.length, count);
		open();
	}
	t.deepEqual(delivered, texts);
});

test('more than may wait is a stall, and what waited is let go of [F3]', t => {
	const {add, valve, delivered, stalls, holds} = outbox();
	const open = valve.shut();
	add('x'.repeat(LIMIT));
	t.deepEqual(stalls, []);
	add('y');
	t.deepEqual(stalls, [LIMIT]);
	t.is(holds(), 0);
	add('z');
	open();
	t.deepEqual(delivered, []);
	t.is(stalls.length, 1);
});

test('a message over the limit may wait alone', t => {
	const {add, valve, delivered, stalls} = outbox();
	const open = valve.shut();
	add('x'.repeat(2 * LIMIT));
	open();
	t.is(delivered.length, 1);
	t.deepEqual(stalls, []);
});

test('not to read for too long is a stall [F3]', async t => {
	const {add, valve, stalls} = outbox(1);
	valve.shut();
	add('1');
	await until(() => stalls.length > 0);
	t.deepEqual(stalls, [1]);
});

test('who has nothing to read does not stall', async t => {
	const [reader, other] = [outbox(1), outbox(1)];
	const open = reader.valve.shut();
	reader.add('1');
	open();
	reader.valve.shut();
	other.valve.shut();
	other.add('1');
	await until(() => other.stalls.length > 0);
	t.deepEqual(reader.stalls, []);
});

test('whoever waits for it to be empty is told when it is', t => {
	const {box, add, valve} = outbox();
	let count = 0;
	box.whenEmpty(() => count++);
	t.is(count, 1);
	const open = valve.shut();
	add('1');
	box.whenEmpty(() => count++);
	t.is(count, 1);
	open();
	t.is(count, 2);
});

test('what waits keeps no more in memory than itself', t => {
	const {box, valve, delivered} = outbox();
	const kept: Envelope[] = [];
	const origin: MessageOrigin = {name: 'files', valve};
	const other = new SendBuffer({
		valve,
		deliver: envelope => kept.push(envelope),
		shutSender: () => () => {},
		onStalled: () => {},
		maxBytes: LIMIT,
		graceMs: 60_000,
	});
	const chunk = Buffer.alloc(65_536, 'x');
	chunk[9] = 10;
	const open = valve.shut();
	other.add(Envelope.received(chunk.subarray(0, 10), origin));
	open();
	// A copy of its own, or one in a pool: not a view that keeps the whole chunk.
	t.not(kept[0]?.line.buffer, chunk.buffer);
	t.is(kept[0]?.bytes.toString(), 'xxxxxxxxx');
	box.close();
	t.deepEqual(delivered, []);
});
