import test from 'ava';
import {EventBuffer, MAX_BYTES} from '../../lib/http/event-buffer.js';

test('does not keep an event over the limit, and reports it as missing [SEC-D5]', t => {
	const buffer = new EventBuffer();
	buffer.add(1, 1, Buffer.from('a'));
	buffer.add(1, 2, Buffer.alloc(MAX_BYTES + 1));
	t.true(buffer.has(1));
	t.deepEqual(buffer.since(1, 1), {events: [], isWhole: false});
	buffer.add(1, 3, Buffer.from('b'));
	const {events, isWhole} = buffer.since(1, 0);
	t.deepEqual(
		events.map(({place, data}) => [place, String(data)]),
		[
			[1, 'a'],
			[3, 'b'],
		],
	);
	t.false(isWhole);
	t.true(buffer.since(1, 2).isWhole);
});

test('keeps an event as long as the limit [SEC-D5]', t => {
	const buffer = new EventBuffer();
	buffer.add(1, 1, Buffer.alloc(MAX_BYTES));
	t.is(buffer.since(1, 0).events[0]?.data.length, MAX_BYTES);
});

test('keeps a small event without the chunk that it came in [SEC-D5]', t => {
	const buffer = new EventBuffer();
	buffer.add(1, 1, Buffer.alloc(65_536).subarray(10, 20));
	const [event] = buffer.since(1, 0).events;
	t.is(event?.data.length, 10);
	t.true((event?.data.buffer.byteLength ?? 65_536) <= Buffer.poolSize);
});
