import test from 'ava';
import {ChunkQueue} from '../../lib/util/chunk-queue.js';

test('joins tiny chunks into few buffers [SEC-D11]', t => {
	const queue = new ChunkQueue();
	for (let at = 0; at < 300_000; at++) queue.add(Buffer.from([at & 127]));
	t.is(queue.bytes, 300_000);
	t.is(queue.count, 5);
	const all: Buffer[] = [];
	for (let chunk = queue.take(); chunk; chunk = queue.take()) all.push(chunk);
	const bytes = Buffer.concat(all);
	t.is(bytes.length, 300_000);
	t.true(bytes.every((byte, at) => byte === (at & 127)));
	t.true(queue.isEmpty);
});

test('keeps the order of small and large chunks without copying the large ones', t => {
	const queue = new ChunkQueue();
	const large = Buffer.alloc(5000, 'l');
	for (const chunk of [Buffer.from('a'), Buffer.from('b'), large, Buffer.from('c')]) queue.add(chunk);
	t.is(String(queue.take()), 'ab');
	queue.add(Buffer.from('d'));
	t.is(queue.take(), large);
	t.is(String(queue.take()), 'cd');
	t.is(queue.take(), undefined);
});
