import test from 'ava';
import {bufferLimit, DEFAULT_BUFFER_BYTES} from '../../../lib/core/buffer-limit.js';
import {ParkedCalls} from '../../../lib/operators/stateless-client/parked-calls.js';

test('returns a call by its requestState once', t => {
	const parked = new ParkedCalls<string>({sizeOf: call => call.length});
	const [a, b] = [parked.add('a'), parked.add('b')];
	t.not(a, b);
	t.is(parked.take(b), 'b');
	t.is(parked.take(a), 'a');
	t.is(parked.take(a), undefined);
});

test('creates unique random requestStates', t => {
	const parked = new ParkedCalls<number>({sizeOf: () => 1});
	const states = Array.from({length: 100}, (_, at) => parked.add(at));
	t.is(new Set(states).size, 100);
	t.true(states.every(state => /^bridge\.v1\.[\w-]{24}$/.test(state)));
});

test('expires a call after ten minutes', t => {
	const clock = {ms: 0};
	const parked = new ParkedCalls<string>({sizeOf: call => call.length, now: () => clock.ms});
	const [a, b] = [parked.add('a'), parked.add('b')];
	clock.ms = 600_000;
	t.is(parked.take(a), 'a');
	clock.ms = 600_001;
	t.is(parked.take(b), undefined);
});

test('evicts the oldest of more than 1000 calls', t => {
	const parked = new ParkedCalls<number>({sizeOf: () => 1});
	const states = Array.from({length: 1001}, (_, at) => parked.add(at));
	t.is(parked.take(states[0] ?? ''), undefined);
	t.is(parked.take(states[1] ?? ''), 1);
	t.is(parked.take(states[1000] ?? ''), 1000);
});

test('evicts and reports the oldest calls over the byte limit', t => {
	const evicted: string[] = [];
	const parked = new ParkedCalls<string>({
		sizeOf: call => call.length,
		maxBytes: 10,
		onEvicted: call => evicted.push(call),
	});
	const states = ['aaaa', 'bbbb', 'cc'].map(call => parked.add(call));
	t.deepEqual(evicted, []);
	parked.add('dddddd');
	t.deepEqual(evicted, ['aaaa', 'bbbb']);
	t.is(parked.take(states[1] ?? ''), undefined);
	t.is(parked.take(states[2] ?? ''), 'cc');
});

test('evicts older calls when a parked call grows too large', t => {
	const parked = new ParkedCalls<{size: number}>({sizeOf: ({size}) => size, maxBytes: 10});
	const [first, second] = [parked.add({size: 4}), {size: 4}];
	const state = parked.add(second);
	second.size = 100;
	parked.trim();
	t.is(parked.take(first), undefined);
	t.is(parked.take(state), second);
});

test('limits a call to 100 server requests and the total byte limit [SEC-D5]', t => {
	const parked = new ParkedCalls<string>({sizeOf: call => call.length, maxBytes: 10});
	t.true(parked.hasCapacity('', 99, 10));
	t.false(parked.hasCapacity('', 100, 0));
	t.true(parked.hasCapacity('aaaa', 1, 6));
	t.false(parked.hasCapacity('aaaa', 1, 7));
	t.true(parked.hasCapacity('', 0, 1000));
});

test('evicts all calls and reports each [SEC-D5]', t => {
	const evicted: string[] = [];
	const parked = new ParkedCalls<string>({
		sizeOf: call => call.length,
		onEvicted: call => evicted.push(call),
	});
	const states = ['a', 'bb'].map(call => parked.add(call));
	t.is(parked.bufferedBytes, 3);
	parked.evict();
	t.deepEqual(evicted, ['a', 'bb']);
	t.is(parked.bufferedBytes, 0);
	for (const state of states) t.is(parked.take(state), undefined);
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
