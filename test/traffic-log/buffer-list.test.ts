import test from 'ava';
import fc from 'fast-check';
import {BufferList} from '../../lib/traffic-log/buffer-list.js';

test('returns what was added, in order', t => {
	const anyPiece = fc.oneof(
		fc.uint8Array({maxLength: 100}).map(bytes => Buffer.from(bytes)),
		fc.nat(40_000).map(length => Buffer.alloc(length, length)),
	);
	fc.assert(
		fc.property(fc.array(anyPiece, {maxLength: 30}), fc.nat(30), (pieces, takeIndex) => {
			const buffers = new BufferList();
			const found: Buffer[] = [];
			for (const [index, piece] of pieces.entries()) {
				if (index === takeIndex) found.push(...buffers.take());
				buffers.add(piece);
			}
			found.push(...buffers.take());
			const expected = Buffer.concat(pieces);
			t.true(Buffer.concat(found).equals(expected));
		}),
	);
});

test('counts the bytes in the list', t => {
	const buffers = new BufferList();
	buffers.add(Buffer.from('abc'));
	buffers.add(Buffer.alloc(100_000));
	t.is(buffers.size, 100_003);
	buffers.take();
	t.is(buffers.size, 0);
});

test('joins small pieces', t => {
	const buffers = new BufferList();
	for (let count = 0; count < 10_000; count++) buffers.add(Buffer.from('0123456789'));
	t.true(buffers.take().length < 4);
});

test('does not copy large pieces', t => {
	const buffers = new BufferList();
	const large = Buffer.alloc(1_000_000);
	buffers.add(Buffer.from('a'));
	buffers.add(large);
	t.is(buffers.take()[1], large);
});

test('does not change taken buffers when more is added', t => {
	const buffers = new BufferList();
	buffers.add(Buffer.from('first'));
	const [taken] = buffers.take();
	buffers.add(Buffer.from('second'));
	t.is(taken?.toString(), 'first');
	t.is(Buffer.concat(buffers.take()).toString(), 'second');
});

test('returns nothing when nothing was added', t => {
	t.deepEqual(new BufferList().take(), []);
});
