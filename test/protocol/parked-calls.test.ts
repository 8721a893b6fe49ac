import test from 'ava';
import {ParkedCalls} from '../../lib/protocol/parked-calls.js';

test('a call is there under its word, once', t => {
	const parked = new ParkedCalls<string>();
	const [a, b] = [parked.add('a'), parked.add('b')];
	t.not(a, b);
	t.is(parked.take(b), 'b');
	t.is(parked.take(a), 'a');
	t.is(parked.take(a), undefined);
});

test('a word cannot be guessed from another', t => {
	const parked = new ParkedCalls<number>();
	const words = Array.from({length: 100}, (_, at) => parked.add(at));
	t.is(new Set(words).size, 100);
	t.true(words.every(word => /^bridge\.v1\.[\w-]{24}$/.test(word)));
});

test('a call is there for ten minutes, and not longer', t => {
	const clock = {ms: 0};
	const parked = new ParkedCalls<string>(() => clock.ms);
	const [a, b] = [parked.add('a'), parked.add('b')];
	clock.ms = 600_000;
	t.is(parked.take(a), 'a');
	clock.ms = 600_001;
	t.is(parked.take(b), undefined);
});

test('of more than a thousand the oldest is forgotten', t => {
	const parked = new ParkedCalls<number>();
	const words = Array.from({length: 1001}, (_, at) => parked.add(at));
	t.is(parked.take(words[0] ?? ''), undefined);
	t.is(parked.take(words[1] ?? ''), 1);
	t.is(parked.take(words[1000] ?? ''), 1000);
});
