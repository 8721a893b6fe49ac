import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import test from 'ava';
import {BufferLimit, type EvictableBuffer} from '../../lib/core/buffer-limit.js';

class Buffered implements EvictableBuffer {
	bufferedBytes: number;

	constructor(bytes: number) {
		this.bufferedBytes = bytes;
	}

	evict(): void {
		this.bufferedBytes = 0;
	}
}

function kept(limit: number) {
	const evictions: number[][] = [];
	const all = new BufferLimit();
	all.configure({limit: () => limit, onEvicted: (...counts) => evictions.push(counts)});
	const add = (bytes: number): Buffered => {
		const buffer = new Buffered(bytes);
		all.register(buffer);
		all.added(bytes);
		return buffer;
	};
	return {all, add, evictions};
}

test('evicts the largest buffers until an eighth of the limit is free [SEC-D5]', t => {
	const {all, add, evictions} = kept(800);
	const buffers = [100, 400, 50, 300].map(add);
	all.check();
	t.deepEqual(
		buffers.map(({bufferedBytes: keptBytes}) => keptBytes),
		[100, 0, 50, 300],
	);
	t.deepEqual(evictions, [[400, 1]]);
});

test('evicts nothing at the limit [SEC-D5]', t => {
	const {all, add, evictions} = kept(800);
	const buffers = [400, 400].map(add);
	all.check();
	t.deepEqual(
		buffers.map(({bufferedBytes: keptBytes}) => keptBytes),
		[400, 400],
	);
	t.deepEqual(evictions, []);
});

test('checks the sum on its own after an eighth of the limit was added [SEC-D5]', async t => {
	const {all, add, evictions} = kept(800);
	const buffer = add(900);
	t.is(buffer.bufferedBytes, 900, 'the check comes later');
	await new Promise(setImmediate);
	t.is(buffer.bufferedBytes, 0);
	all.added(99);
	await new Promise(setImmediate);
	t.is(evictions.length, 1);
});

test('counts what a buffer keeps after its eviction [SEC-D5]', t => {
	const {all, add, evictions} = kept(800);
	const stubborn = add(500);
	stubborn.evict = () => {
		stubborn.bufferedBytes = 450;
	};
	const other = add(400);
	all.check();
	t.deepEqual([stubborn.bufferedBytes, other.bufferedBytes], [450, 0]);
	t.deepEqual(evictions, [[450, 2]]);
});

test('removes the references to buffers that were collected [SEC-D5]', async t => {
	setFlagsFromString('--expose-gc');
	const collect = runInNewContext('gc') as () => void;
	const {all, add} = kept(800);
	// Weak references are cleared between tasks, when a collection has run.
	for (let round = 0; round < 20; round++) {
		for (let count = 0; count < 500; count++) add(0);
		await new Promise(setImmediate);
		collect();
	}
	t.true(all.size < 5000, `${all.size} of 10000`);
});
