import test from 'ava';
import {EventBuffer, MAX_BUFFERED_BYTES} from '../../../lib/transports/http-server/event-buffer.js';

test('does not buffer an event over the limit, and reports it as missing [SEC-D5]', t => {
	const buffer = new EventBuffer();
	buffer.add(1, 1, Buffer.from('a'));
	buffer.add(1, 2, Buffer.alloc(MAX_BUFFERED_BYTES + 1));
	t.true(buffer.has(1));
	t.deepEqual(buffer.eventsAfter(1, 1), {events: [], isWhole: false});
	buffer.add(1, 3, Buffer.from('b'));
	const {events, isWhole} = buffer.eventsAfter(1, 0);
	t.deepEqual(
		events.map(({sequence, data}) => [sequence, String(data)]),
		[
			[1, 'a'],
			[3, 'b'],
		],
	);
	t.false(isWhole);
	t.true(buffer.eventsAfter(1, 2).isWhole);
});

test('buffers an event of exactly the limit [SEC-D5]', t => {
	const buffer = new EventBuffer();
	buffer.add(1, 1, Buffer.alloc(MAX_BUFFERED_BYTES));
	t.is(buffer.eventsAfter(1, 0).events[0]?.data.length, MAX_BUFFERED_BYTES);
});

test('copies a small event, so that its chunk can be freed [SEC-D5]', t => {
	const buffer = new EventBuffer();
	buffer.add(1, 1, Buffer.alloc(65_536).subarray(10, 20));
	const [event] = buffer.eventsAfter(1, 0).events;
	t.is(event?.data.length, 10);
	t.true((event?.data.buffer.byteLength ?? 65_536) <= Buffer.poolSize);
});

test('replaces evicted responses by errors, and reports other evicted events as missing [SEC-D5]', t => {
	const buffer = new EventBuffer();
	buffer.add(1, 1, Buffer.from('notification'));
	buffer.add(1, 2, Buffer.alloc(2 ** 20), '7');
	buffer.add(2, 1, Buffer.from('b'));
	t.is(buffer.bufferedBytes, 12 + 2 ** 20 + 1);
	buffer.evict();
	t.is(buffer.bufferedBytes, 0);
	const {events, isWhole} = buffer.eventsAfter(1, 0);
	t.false(isWhole);
	t.deepEqual(
		events.map(({sequence, data}) => [
			sequence,
			JSON.parse(String(data)).id,
			JSON.parse(String(data)).error.code,
		]),
		[[2, 7, -31007]],
	);
	t.true(buffer.eventsAfter(1, 1).isWhole);
	t.true(buffer.has(2));
	t.deepEqual(buffer.eventsAfter(2, 0), {events: [], isWhole: false});
	buffer.add(2, 2, Buffer.from('c'));
	t.true(buffer.eventsAfter(2, 1).isWhole);
});
