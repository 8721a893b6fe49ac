import test from 'ava';
import {Envelope} from '../../../lib/core/envelope.js';
import {EventBuffer} from '../../../lib/transports/http-server/event-buffer.js';
import {ResumableStream} from '../../../lib/transports/http-server/resumable-stream.js';

for (const [what, text, id] of [
	['a response', '{"jsonrpc":"2.0","id":7,"result":{}}', 7],
	['a batch of responses', '[{"jsonrpc":"2.0","id":7,"result":{}}]', null],
	['an error without an id', '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}', null],
] as const)
	test(`replays an error for ${what} that was evicted [SEC-D5]`, t => {
		const buffer = new EventBuffer();
		const stream = new ResumableStream({number: 1, buffer, onSlow: () => {}});
		stream.send(Envelope.fromText(text));
		t.is(String(buffer.eventsAfter(1, 0).events[0]?.data).trim(), text);
		buffer.evict();
		const {events, isWhole} = buffer.eventsAfter(1, 0);
		t.true(isWhole);
		t.like(JSON.parse(String(events[0]?.data)), {id, error: {code: -31_007}});
	});

test('replays no error for a notification that was evicted [SEC-D5]', t => {
	const buffer = new EventBuffer();
	const stream = new ResumableStream({number: 1, buffer, onSlow: () => {}});
	stream.send(Envelope.fromText('{"jsonrpc":"2.0","method":"notifications/message"}'));
	buffer.evict();
	t.deepEqual(buffer.eventsAfter(1, 0), {events: [], isWhole: false});
});
