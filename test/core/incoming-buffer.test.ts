import test from 'ava';
import {Envelope, type MessageOrigin} from '../../lib/core/envelope.js';
import {IncomingBuffer} from '../../lib/core/incoming-buffer.js';
import {Valve} from '../../lib/core/valve.js';

function listen(incoming: IncomingBuffer) {
	const events: unknown[] = [];
	incoming.messages.subscribe({
		next: ({body}) => events.push(body.id),
		error: error => events.push(error),
		complete: () => events.push('end'),
	});
	return events;
}

test('queues messages and the end until the subscription', t => {
	const incoming = new IncomingBuffer();
	incoming.next(Envelope.of({id: 1}));
	incoming.next(Envelope.of({id: 2}));
	incoming.end();
	t.deepEqual(listen(incoming), [1, 2, 'end']);
});

test('delivers later messages immediately', t => {
	const incoming = new IncomingBuffer();
	const events = listen(incoming);
	incoming.next(Envelope.of({id: 1}));
	t.deepEqual(events, [1]);
	incoming.end(new Error('x'));
	t.like(events[1], {message: 'x'});
});

test('ignores messages and further ends after the first end', t => {
	const incoming = new IncomingBuffer();
	incoming.end();
	incoming.end(new Error('x'));
	incoming.next(Envelope.of({id: 1}));
	t.deepEqual(listen(incoming), ['end']);
});

test('shuts the valve of the origin at the limit until the subscription [F1]', t => {
	const incoming = new IncomingBuffer();
	const origin: MessageOrigin = {name: 'client', valve: new Valve()};
	for (let id = 0; id < 1000; id++) incoming.next(Envelope.of({id}, origin));
	t.false(origin.valve.isOpen);
	t.is(listen(incoming).length, 1000);
	t.true(origin.valve.isOpen);
});
