import test from 'ava';
import {ChunkQueue} from '../../lib/util/chunk-queue.js';

test('joins tiny chunks, so that they take no more memory than their bytes [SEC-D11]', t => {
	const kept = new ChunkQueue();
	for (let at = 0; at < 300_000; at++) kept.add(Buffer.from([at & 127]));
	t.is(kept.bytes, 300_000);
	t.is(kept.count, 5);
	const all: Buffer[] = [];
	for (let chunk = kept.take(); chunk; chunk = kept.take()) all.push(chunk);
	const bytes = Buffer.concat(all);
	t.is(bytes.length, 300_000);
	t.true(bytes.every((byte, at) => byte === (at & 127)));
	t.true(kept.isEmpty);
});

test('keeps the order of small and large chunks, and does not copy the large ones', t => {
	const kept = new ChunkQueue();
	const large = Buffer.alloc(5000, 'l');
	for (const chunk of [Buffer.from('a'), Buffer.from('b'), large, Buffer.from('c')]) kept.add(chunk);
	t.is(String(kept.take()), 'ab');
	kept.add(Buffer.from('d'));
	t.is(kept.take(), large);
	t.is(String(kept.take()), 'cd');
	t.is(kept.take(), undefined);
});
