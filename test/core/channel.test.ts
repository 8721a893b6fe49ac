import test from 'ava';
import {Channel} from '../../lib/core/channel.js';
import {Envelope} from '../../lib/core/envelope.js';

const message = (id: number): Envelope => Envelope.of({jsonrpc: '2.0', id, method: 'ping'});

/** What a listener has heard, and how it ended. */
const listen = (channel: Channel) => {
	const heard: unknown[] = [];
	const subscription = channel.subscribe({
		next: envelope => heard.push(envelope.body.id),
		error: error => heard.push(error),
		complete: () => heard.push('end'),
	});
	return {heard, subscription};
};

test('all who listen hear a message, and nobody hears what came before', t => {
	const channel = new Channel();
	channel.next(message(1));
	const [one, other] = [listen(channel), listen(channel)];
	channel.next(message(2));
	t.deepEqual([one.heard, other.heard], [[2], [2]]);
});

test('who has left hears nothing more', t => {
	const channel = new Channel();
	const [one, other] = [listen(channel), listen(channel)];
	one.subscription.unsubscribe();
	channel.next(message(1));
	channel.complete();
	t.deepEqual([one.heard, other.heard], [[], [1, 'end']]);
});

test('who comes while something is told hears the next, and who leaves then is no trouble to others', t => {
	const channel = new Channel();
	let late: unknown[] = [];
	const first = channel.subscribe(() => {
		first.unsubscribe();
		late = listen(channel).heard;
	});
	const {heard} = listen(channel);
	channel.next(message(1));
	channel.next(message(2));
	t.deepEqual([heard, late], [[1, 2], [2]]);
});

test('an end comes once, as an error where it is one, and to those who listen later, too', t => {
	const channel = new Channel();
	const {heard} = listen(channel);
	const error = new Error('over');
	channel.error(error);
	channel.complete();
	channel.next(message(1));
	t.deepEqual([heard, listen(channel).heard], [[error], [error]]);
});
