import test from 'ava';
import {bufferLimit, DEFAULT_BUFFER_BYTES} from '../../../lib/core/buffer-limit.js';
import {ParkedCalls} from '../../../lib/operators/stateless-client/parked-calls.js';

test('a call is there under its word, once', t => {
	const parked = new ParkedCalls<string>({sizeOf: call => call.length});
	const [a, b] = [parked.add('a'), parked.add('b')];
	t.not(a, b);
	t.is(parked.take(b), 'b');
	t.is(parked.take(a), 'a');
	t.is(parked.take(a), undefined);
});

test('a word cannot be guessed from another', t => {
	const parked = new ParkedCalls<number>({sizeOf: () => 1});
	const words = Array.from({length: 100}, (_, at) => parked.add(at));
	t.is(new Set(words).size, 100);
	t.true(words.every(word => /^bridge\.v1\.[\w-]{24}$/.test(word)));
});

test('a call is there for ten minutes, and not longer', t => {
	const clock = {ms: 0};
	const parked = new ParkedCalls<string>({sizeOf: call => call.length, now: () => clock.ms});
	const [a, b] = [parked.add('a'), parked.add('b')];
	clock.ms = 600_000;
	t.is(parked.take(a), 'a');
	clock.ms = 600_001;
	t.is(parked.take(b), undefined);
});

test('of more than a thousand the oldest is forgotten', t => {
	const parked = new ParkedCalls<number>({sizeOf: () => 1});
	const words = Array.from({length: 1001}, (_, at) => parked.add(at));
	t.is(parked.take(words[0] ?? ''), undefined);
	t.is(parked.take(words[1] ?? ''), 1);
	t.is(parked.take(words[1000] ?? ''), 1000);
});

test('of more bytes than may be the oldest are forgotten, and told of', t => {
	const forgotten: string[] = [];
	const parked = new ParkedCalls<string>({
		sizeOf: call => call.length,
		maxBytes: 10,
		onEvicted: call => forgotten.push(call),
	});
	const words = ['aaaa', 'bbbb', 'cc'].map(call => parked.add(call));
	t.deepEqual(forgotten, []);
	parked.add('dddddd');
	t.deepEqual(forgotten, ['aaaa', 'bbbb']);
	t.is(parked.take(words[1] ?? ''), undefined);
	t.is(parked.take(words[2] ?? ''), 'cc');
});

test('a call that becomes too large while it is parked pushes out older ones, and stays itself', t => {
	const parked = new ParkedCalls<{size: number}>({sizeOf: ({size}) => size, maxBytes: 10});
	const [first, second] = [parked.add({size: 4}), {size: 4}];
	const word = parked.add(second);
	second.size = 100;
	parked.trim();
	t.is(parked.take(first), undefined);
	t.is(parked.take(word), second);
});

test('a call has room for 100 server requests, and for no more bytes than are parked at all [SEC-D5]', t => {
	const parked = new ParkedCalls<string>({sizeOf: call => call.length, maxBytes: 10});
	t.true(parked.hasCapacity('', 99, 10));
	t.false(parked.hasCapacity('', 100, 0));
	t.true(parked.hasCapacity('aaaa', 1, 6));
	t.false(parked.hasCapacity('aaaa', 1, 7));
	t.true(parked.hasCapacity('', 0, 1000));
});

test('evicts all calls, and reports each [SEC-D5]', t => {
	const forgotten: string[] = [];
	const parked = new ParkedCalls<string>({
		sizeOf: call => call.length,
		onEvicted: call => forgotten.push(call),
	});
	const words = ['a', 'bb'].map(call => parked.add(call));
	t.is(parked.bufferedBytes, 3);
	parked.evict();
	t.deepEqual(forgotten, ['a', 'bb']);
	t.is(parked.bufferedBytes, 0);
	for (const word of words) t.is(parked.take(word), undefined);
});

test('counts calls that are parked after an eviction [SEC-D5]', async t => {
	const parked = new ParkedCalls<string>({sizeOf: call => call.length});
	bufferLimit.configure({limit: () => 1000, onEvicted: () => {}});
	t.teardown(() => bufferLimit.configure({limit: () => DEFAULT_BUFFER_BYTES, onEvicted: () => {}}));
	for (const round of [1, 2, 3]) {
		parked.add('x'.repeat(2000));
		await new Promise(setImmediate);
		t.is(parked.bufferedBytes, 0, `round ${round}`);
	}
});
