import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import test from 'ava';
import {BufferLimit, type EvictableBuffer} from '../../lib/core/buffer-limit.js';

class TestBuffer implements EvictableBuffer {
	bufferedBytes: number;

	constructor(bytes: number) {
		this.bufferedBytes = bytes;
	}

	evict(): void {
		this.bufferedBytes = 0;
	}
}

function startLimit(limit: number) {
	const evictions: number[][] = [];
	const bufferLimit = new BufferLimit();
	bufferLimit.configure({limit: () => limit, onEvicted: (...counts) => evictions.push(counts)});
	const add = (bytes: number): TestBuffer => {
		const buffer = new TestBuffer(bytes);
		bufferLimit.register(buffer);
		bufferLimit.added(bytes);
		return buffer;
	};
	return {bufferLimit, add, evictions};
}

test('evicts the largest buffers until an eighth of the limit is free [SEC-D5]', t => {
	const {bufferLimit, add, evictions} = startLimit(800);
	const buffers = [100, 400, 50, 300].map(add);
	bufferLimit.check();
	t.deepEqual(
		buffers.map(({bufferedBytes: bytes}) => bytes),
		[100, 0, 50, 300],
	);
	t.deepEqual(evictions, [[400, 1]]);
});

test('evicts nothing at the limit [SEC-D5]', t => {
	const {bufferLimit, add, evictions} = startLimit(800);
	const buffers = [400, 400].map(add);
	bufferLimit.check();
	t.deepEqual(
		buffers.map(({bufferedBytes: bytes}) => bytes),
		[400, 400],
	);
	t.deepEqual(evictions, []);
});

test('checks the total after an eighth of the limit was added [SEC-D5]', async t => {
	const {bufferLimit, add, evictions} = startLimit(800);
	const buffer = add(900);
	t.is(buffer.bufferedBytes, 900, 'the check runs later');
	await new Promise(setImmediate);
	t.is(buffer.bufferedBytes, 0);
	bufferLimit.added(99);
	await new Promise(setImmediate);
	t.is(evictions.length, 1);
});

test('counts the bytes that remain in a buffer after its eviction [SEC-D5]', t => {
	const {bufferLimit, add, evictions} = startLimit(800);
	const partial = add(500);
	partial.evict = () => {
		partial.bufferedBytes = 450;
	};
	const other = add(400);
	bufferLimit.check();
	t.deepEqual([partial.bufferedBytes, other.bufferedBytes], [450, 0]);
	t.deepEqual(evictions, [[450, 2]]);
});

test('removes references to collected buffers [SEC-D5]', async t => {
	setFlagsFromString('--expose-gc');
	const collect = runInNewContext('gc') as () => void;
	const {bufferLimit, add} = startLimit(800);
	// Weak references are cleared between tasks after a garbage collection.
	for (let round = 0; round < 20; round++) {
		for (let count = 0; count < 500; count++) add(0);
		await new Promise(setImmediate);
		collect();
	}
	t.true(bufferLimit.size < 5000, `${bufferLimit.size} of 10000`);
});
