import test from 'ava';
import {Channel} from '../../lib/core/channel.js';
import {Envelope} from '../../lib/core/envelope.js';

const message = (id: number): Envelope => Envelope.of({jsonrpc: '2.0', id, method: 'ping'});

/** Subscribes and records the messages and the end. */
const listen = (channel: Channel) => {
	const events: unknown[] = [];
	const subscription = channel.subscribe({
		next: envelope => events.push(envelope.body.id),
		error: error => events.push(error),
		complete: () => events.push('end'),
	});
	return {events, subscription};
};

test('emits to all current subscribers, and replays nothing to later ones', t => {
	const channel = new Channel();
	channel.next(message(1));
	const [one, other] = [listen(channel), listen(channel)];
	channel.next(message(2));
	t.deepEqual([one.events, other.events], [[2], [2]]);
});

test('emits nothing to a subscriber that has unsubscribed', t => {
	const channel = new Channel();
	const [one, other] = [listen(channel), listen(channel)];
	one.subscription.unsubscribe();
	channel.next(message(1));
	channel.complete();
	t.deepEqual([one.events, other.events], [[], [1, 'end']]);
});

test('supports subscribing and unsubscribing during an emission', t => {
	const channel = new Channel();
	let late: unknown[] = [];
	const first = channel.subscribe(() => {
		first.unsubscribe();
		late = listen(channel).events;
	});
	const {events} = listen(channel);
	channel.next(message(1));
	channel.next(message(2));
	t.deepEqual([events, late], [[1, 2], [2]]);
});

test('emits only the first end, also to later subscribers', t => {
	const channel = new Channel();
	const {events} = listen(channel);
	const error = new Error('over');
	channel.error(error);
	channel.complete();
	channel.next(message(1));
	t.deepEqual([events, listen(channel).events], [[error], [error]]);
});
