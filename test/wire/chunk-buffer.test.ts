import {setImmediate} from 'node:timers/promises';
import test from 'ava';
import fc from 'fast-check';
import {ChunkBuffer} from '../../lib/wire/chunk-buffer.js';
import {heldBytes} from './heap.js';

const EDGE_BYTES = 4096;

const fill = (pieces: ChunkBuffer, parts: readonly Buffer[]): void => {
	for (const part of parts) pieces.add(part);
};

/** Sizes of parts, small and large, few or many of them. */
const sizes = fc.array(
	fc.oneof(fc.nat({max: 3}), fc.nat({max: 500}), fc.constantFrom(16_383, 16_384, 20_000, 65_536)),
	{maxLength: 120},
);

/** Parts of these sizes, filled with different letters. */
const partsOf = (list: readonly number[]): Buffer[] =>
	list.map((size, index) => Buffer.alloc(size, 33 + (index % 90)));

test('joins any number of small and large parts', t => {
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

test('does not copy a message received as one part', t => {
	const pieces = new ChunkBuffer(100);
	const part = Buffer.from('{"a":1}');
	pieces.add(part);
	t.is(pieces.joined(), part);
});

test('behaves like a new buffer after clear', t => {
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

test('accepts a message at the limit and rejects one more byte [A2]', t => {
	const pieces = new ChunkBuffer(10);
	pieces.add(Buffer.alloc(10));
	t.false(pieces.isTooLarge);
	pieces.add(Buffer.from('\n'));
	t.true(pieces.isTooLarge);
});

/** A limit, and the sizes of the parts of a message that is over it. */
const oversized = fc
	.record({numbers: sizes, limit: fc.integer({min: EDGE_BYTES, max: 20_000})})
	.filter(({numbers, limit}) => numbers.reduce((sum, size) => sum + size, 0) > limit + 2);

/** Adds such a message to a buffer. Returns both. */
const fillOversized = ({
	numbers,
	limit,
}: {
	numbers: number[];
	limit: number;
}): {whole: Buffer; pieces: ChunkBuffer} => {
	const list = partsOf(numbers);
	const pieces = new ChunkBuffer(limit);
	fill(pieces, list);
	return {whole: Buffer.concat(list), pieces};
};

test('keeps the first bytes of a message over the limit, however it is split [A2]', t => {
	fc.assert(
		fc.property(oversized, message => {
			const {whole, pieces} = fillOversized(message);
			return pieces.isTooLarge && pieces.start.equals(whole.subarray(0, EDGE_BYTES));
		}),
		{numRuns: 300},
	);
	t.pass();
});

test('keeps the last bytes of a message over the limit, however it is split [A2]', t => {
	fc.assert(
		fc.property(oversized, message => {
			const {whole, pieces} = fillOversized(message);
			return pieces.isTooLarge && pieces.end.equals(whole.subarray(-EDGE_BYTES));
		}),
		// The second example has small parts around the limit.
		{numRuns: 300, examples: [[{numbers: [9000], limit: 5000}], [{numbers: [4990, 8, 8], limit: 5000}]]},
	);
	t.pass();
});

test('copies the ends of a message over the limit out of its chunks [A2]', t => {
	const pieces = new ChunkBuffer(100);
	pieces.add(Buffer.alloc(1e6));
	t.true(pieces.start.buffer.byteLength <= 128 * 1024);
	t.true(pieces.end.buffer.byteLength <= 128 * 1024);
});

/** Adds a part of this size. Returns a function that checks if it is still alive. */
function addWatched(pieces: ChunkBuffer, size: number): () => boolean {
	const part = Buffer.alloc(size);
	pieces.add(part);
	const watched = new WeakRef(part);
	return () => watched.deref() !== undefined;
}

test('releases the parts of a message as soon as it exceeds the limit [A2]', async t => {
	const pieces = new ChunkBuffer(10_000);
	const isAlive = addWatched(pieces, 9000);
	pieces.add(Buffer.alloc(9000));
	// The target of a new weak reference stays alive until the end of the current task.
	await setImmediate();
	heldBytes();
	t.false(isAlive());
	t.is(pieces.size, 18_000);
});
