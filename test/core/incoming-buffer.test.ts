import test from 'ava';
import {Envelope, type MessageOrigin} from '../../lib/core/envelope.js';
import {IncomingBuffer} from '../../lib/core/incoming-buffer.js';
import {Valve} from '../../lib/core/valve.js';

function listen(inbox: IncomingBuffer) {
	const told: unknown[] = [];
	inbox.messages.subscribe({
		next: ({body}) => told.push(body.id),
		error: error => told.push(error),
		complete: () => told.push('end'),
	});
	return told;
}

test('what comes before somebody listens is kept, in order, and so is the end', t => {
	const inbox = new IncomingBuffer();
	inbox.next(Envelope.of({id: 1}));
	inbox.next(Envelope.of({id: 2}));
	inbox.end();
	t.deepEqual(listen(inbox), [1, 2, 'end']);
});

test('what comes later is heard at once', t => {
	const inbox = new IncomingBuffer();
	const told = listen(inbox);
	inbox.next(Envelope.of({id: 1}));
	t.deepEqual(told, [1]);
	inbox.end(new Error('x'));
	t.like(told[1], {message: 'x'});
});

test('only the first end counts, and nothing comes behind it', t => {
	const inbox = new IncomingBuffer();
	inbox.end();
	inbox.end(new Error('x'));
	inbox.next(Envelope.of({id: 1}));
	t.deepEqual(listen(inbox), ['end']);
});

test('whoever says too much before somebody listens is stopped until then [F1]', t => {
	const inbox = new IncomingBuffer();
	const origin: MessageOrigin = {name: 'client', valve: new Valve()};
	for (let id = 0; id < 1000; id++) inbox.next(Envelope.of({id}, origin));
	t.false(origin.valve.isOpen);
	t.is(listen(inbox).length, 1000);
	t.true(origin.valve.isOpen);
});
