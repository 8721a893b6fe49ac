import test from 'ava';
import {Envelope, type MessageOrigin} from '../../../lib/core/envelope.js';
import {Valve} from '../../../lib/core/valve.js';
import {SendBuffer} from '../../../lib/upstream/share/send-buffer.js';
import {until} from '../../helpers/pipeline.js';

const LIMIT = 1000;

function createBuffer(graceMs = 60_000) {
	const origin: MessageOrigin = {name: 'files', valve: new Valve()};
	const delivered: string[] = [];
	const stalls: number[] = [];
	let shutCount = 0;
	let deliverHook = (): void => {};
	const buffer = new SendBuffer({
		valve: origin.valve,
		deliver(envelope) {
			delivered.push(envelope.bytes.toString());
			deliverHook();
		},
		shutSender: () => {
			shutCount++;
			return () => shutCount--;
		},
		onStalled: bytes => stalls.push(bytes),
		maxBytes: LIMIT,
		graceMs,
	});
	const add = (text: string): void => buffer.add(Envelope.received(Buffer.from(`${text}\n`), origin));
	const onDelivered = (next: () => void): void => {
		deliverHook = next;
	};
	return {buffer, add, valve: origin.valve, delivered, stalls, shutCount: () => shutCount, onDelivered};
}

test('delivers messages at once while the valve is open', t => {
	const {add, delivered, shutCount} = createBuffer();
	for (const text of ['1', '2']) add(text);
	t.deepEqual(delivered, ['1', '2']);
	t.is(shutCount(), 0);
});

test('stops reading from a client that does not read, and delivers in order when it does', t => {
	const {add, valve, delivered, stalls, shutCount} = createBuffer();
	const open = valve.shut();
	for (const text of ['1', '2', '3']) add(text);
	t.deepEqual(delivered, []);
	t.is(shutCount(), 1);
	open();
	t.deepEqual(delivered, ['1', '2', '3']);
	t.is(shutCount(), 0);
	add('4');
	t.is(delivered.at(-1), '4');
	t.deepEqual(stalls, []);
});

test('appends a message that arrives while the queue drains', t => {
	const {add, valve, delivered} = createBuffer();
	const open = valve.shut();
	add('1');
	valve.whenOpen(() => add('2'));
	add('3');
	open();
	t.deepEqual(delivered, ['1', '3', '2']);
});

test('delivers the whole queue when the valve shuts after each message', t => {
	const {add, valve, delivered, onDelivered} = createBuffer();
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

test('stalls and drops the backlog when it exceeds the limit [F3]', t => {
	const {add, valve, delivered, stalls, shutCount} = createBuffer();
	const open = valve.shut();
	add('x'.repeat(LIMIT));
	t.deepEqual(stalls, []);
	add('y');
	t.deepEqual(stalls, [LIMIT]);
	t.is(shutCount(), 0);
	add('z');
	open();
	t.deepEqual(delivered, []);
	t.is(stalls.length, 1);
});

test('queues a single message over the limit', t => {
	const {add, valve, delivered, stalls} = createBuffer();
	const open = valve.shut();
	add('x'.repeat(2 * LIMIT));
	open();
	t.is(delivered.length, 1);
	t.deepEqual(stalls, []);
});

test('stalls when the backlog does not drain in time [F3]', async t => {
	const {add, valve, stalls} = createBuffer(1);
	valve.shut();
	add('1');
	await until(() => stalls.length > 0);
	t.deepEqual(stalls, [1]);
});

test('does not stall without a backlog', async t => {
	const [reader, other] = [createBuffer(1), createBuffer(1)];
	const open = reader.valve.shut();
	reader.add('1');
	open();
	reader.valve.shut();
	other.valve.shut();
	other.add('1');
	await until(() => other.stalls.length > 0);
	t.deepEqual(reader.stalls, []);
});

test('calls the callback of whenEmpty once the queue is empty', t => {
	const {buffer, add, valve} = createBuffer();
	let count = 0;
	buffer.whenEmpty(() => count++);
	t.is(count, 1);
	const open = valve.shut();
	add('1');
	buffer.whenEmpty(() => count++);
	t.is(count, 1);
	open();
	t.is(count, 2);
});

test('copies queued messages, so that they do not retain their chunk', t => {
	const {buffer, valve, delivered} = createBuffer();
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
	// A copy, possibly in a pool: a view would retain the whole chunk.
	t.not(kept[0]?.line.buffer, chunk.buffer);
	t.is(kept[0]?.bytes.toString(), 'xxxxxxxxx');
	buffer.close();
	t.deepEqual(delivered, []);
});
