import {setImmediate} from 'node:timers/promises';
import test from 'ava';
import fc from 'fast-check';
import {ChunkBuffer} from '../../lib/wire/chunk-buffer.js';
import {heldBytes} from './heap.js';

const KEPT = 4096;

const fill = (pieces: ChunkBuffer, parts: readonly Buffer[]): void => {
	for (const part of parts) pieces.add(part);
};

/** Sizes of parts, small and large, few or many of them. */
const sizes = fc.array(
	fc.oneof(fc.nat({max: 3}), fc.nat({max: 500}), fc.constantFrom(16_383, 16_384, 20_000, 65_536)),
	{maxLength: 120},
);

/** Parts of these sizes, each of its own letter. */
const partsOf = (list: readonly number[]): Buffer[] =>
	list.map((size, index) => Buffer.alloc(size, 33 + (index % 90)));

test('joins any parts, small and large, few and many, to the bytes they were', t => {
	fc.assert(
		fc.property(sizes, numbers => {
			const list = partsOf(numbers);
			const pieces = new ChunkBuffer(1e9);
			fill(pieces, list);
			const whole = Buffer.concat(list);
			return (
				pieces.joined().equals(whole) &&
				pieces.size === whole.length &&
				pieces.isEmpty === (whole.length === 0)
			);
		}),
		{numRuns: 300},
	);
	t.pass();
});

test('joins a hundred thousand single bytes', t => {
	const pieces = new ChunkBuffer(1e9);
	const bytes = Buffer.from(Array.from({length: 100_000}, (_, index) => index & 0xff));
	for (let at = 0; at < bytes.length; at++) pieces.add(bytes.subarray(at, at + 1));
	t.true(pieces.joined().equals(bytes));
});

test('does not copy a message that came as one part', t => {
	const pieces = new ChunkBuffer(100);
	const part = Buffer.from('{"a":1}');
	pieces.add(part);
	t.is(pieces.joined(), part);
});

test('is as new after it was cleared', t => {
	fc.assert(
		fc.property(sizes, sizes, fc.constantFrom(50, 1e9), (first, second, limit) => {
			const [used, fresh] = [new ChunkBuffer(limit), new ChunkBuffer(limit)];
			fill(used, partsOf(first));
			used.clear();
			fill(used, partsOf(second));
			fill(fresh, partsOf(second));
			t.deepEqual([used.size, used.isEmpty, used.isTooLarge], [fresh.size, fresh.isEmpty, fresh.isTooLarge]);
			if (used.isTooLarge) t.true(used.start.equals(fresh.start) && used.end.equals(fresh.end));
			else t.true(used.joined().equals(fresh.joined()));
		}),
		{numRuns: 100},
	);
});

test('what is exactly at the limit is kept, and one byte more is not [A2]', t => {
	const pieces = new ChunkBuffer(10);
	pieces.add(Buffer.alloc(10));
	t.false(pieces.isTooLarge);
	pieces.add(Buffer.from('\n'));
	t.true(pieces.isTooLarge);
});

/** A limit, and the sizes of the parts of a message that is over it. */
const oversized = fc
	.record({numbers: sizes, limit: fc.integer({min: KEPT, max: 20_000})})
	.filter(({numbers, limit}) => numbers.reduce((sum, size) => sum + size, 0) > limit + 2);

/** Such a message as it was, and what is kept of it. */
const keep = ({numbers, limit}: {numbers: number[]; limit: number}): {whole: Buffer; pieces: ChunkBuffer} => {
	const list = partsOf(numbers);
	const pieces = new ChunkBuffer(limit);
	fill(pieces, list);
	return {whole: Buffer.concat(list), pieces};
};

test('of a message over the limit the first bytes are kept, in whatever parts it came [A2]', t => {
	fc.assert(
		fc.property(oversized, message => {
			const {whole, pieces} = keep(message);
			return pieces.isTooLarge && pieces.start.equals(whole.subarray(0, KEPT));
		}),
		{numRuns: 300},
	);
	t.pass();
});

test('of a message over the limit the last bytes are kept, in whatever parts it came [A2]', t => {
	fc.assert(
		fc.property(oversized, message => {
			const {whole, pieces} = keep(message);
			return pieces.isTooLarge && pieces.end.equals(whole.subarray(-KEPT));
		}),
		// The second: small parts around the limit.
		{numRuns: 300, examples: [[{numbers: [9000], limit: 5000}], [{numbers: [4990, 8, 8], limit: 5000}]]},
	);
	t.pass();
});

test('what is kept of a message over the limit does not keep the rest of it in memory [A2]', t => {
	const pieces = new ChunkBuffer(100);
	pieces.add(Buffer.alloc(1e6));
	t.true(pieces.start.buffer.byteLength <= 128 * 1024);
	t.true(pieces.end.buffer.byteLength <= 128 * 1024);
});

/** Adds a part of this size, and tells whether it is held. */
function addWatched(pieces: ChunkBuffer, size: number): () => boolean {
	const part = Buffer.alloc(size);
	pieces.add(part);
	const watched = new WeakRef(part);
	return () => watched.deref() !== undefined;
}

test('the parts of a message are let go once it is over the limit, not only at its end [A2]', async t => {
	const pieces = new ChunkBuffer(10_000);
	const isHeld = addWatched(pieces, 9000);
	pieces.add(Buffer.alloc(9000));
	// What a weak reference was made for is held by the engine itself for the rest of this turn.
	await setImmediate();
	heldBytes();
	t.false(isHeld());
	t.is(pieces.size, 18_000);
});
