/** Where a module's data goes, and what it is. */
export type Segment = readonly [offset: number, bytes: Uint8Array];

/** A module that is made to be copied: its memory is bounded, its data apart, and its table and stack can be reached. */
export type Patched = {readonly bytes: Uint8Array; readonly segments: readonly Segment[]};

/** What the exports are called that are added to a module. */
export const TABLE = 'bridge_table';
export const STACK_POINTER = 'bridge_stack_pointer';

const section = {custom: 0, memory: 5, exports: 7, data: 11} as const;
const PAGE = 65_536;
const I32_CONST = 0x41;
const END = 0x0b;

/** Reads the numbers and lengths that a module consists of. */
class Reader {
	readonly bytes: Uint8Array;
	at: number;

	constructor(bytes: Uint8Array, at = 0) {
		this.bytes = bytes;
		this.at = at;
	}

	byte(): number {
		return this.bytes[this.at++] ?? 0;
	}

	number(): number {
		let [value, shift] = [0, 0];
		for (;;) {
			const byte = this.byte();
			value |= (byte & 0x7f) << shift;
			shift += 7;
			if (byte < 0x80) return value >>> 0;
		}
	}

	take(length: number): Uint8Array {
		this.at += length;
		return this.bytes.subarray(this.at - length, this.at);
	}
}

function number(value: number): number[] {
	const bytes: number[] = [];
	let rest = value;
	while (rest >= 0x80) {
		bytes.push((rest & 0x7f) | 0x80);
		rest >>>= 7;
	}
	return [...bytes, rest];
}

const named = (name: string): number[] => [...number(name.length), ...Buffer.from(name)];

/**
 * Rewrites a module of one memory, one table and one global, as the linker makes them of C. Debugging sections, which
 * are half of it, are left out.
 */
export function patch(original: Uint8Array, maxMemoryBytes: number): Patched {
	const reader = new Reader(original);
	const parts: Uint8Array[] = [reader.take(8)];
	let segments: readonly Segment[] = [];
	while (reader.at < original.length) {
		const id = reader.byte();
		const body = reader.take(reader.number());
		if (id === section.custom) continue;
		if (id === section.data) {
			segments = dataOf(new Reader(body));
			continue;
		}
		const changed = changedSection(id, body, maxMemoryBytes);
		parts.push(Uint8Array.from([id, ...number(changed.length)]), changed);
	}
	return {bytes: Buffer.concat(parts), segments};
}

function changedSection(id: number, body: Uint8Array, maxMemoryBytes: number): Uint8Array {
	const reader = new Reader(body);
	if (id === section.memory) {
		reader.take(2);
		const least = reader.number();
		return Uint8Array.from([
			1,
			1,
			...number(least),
			...number(Math.max(least, Math.floor(maxMemoryBytes / PAGE))),
		]);
	}
	if (id !== section.exports) return body;
	const count = reader.number();
	const added = [...named(TABLE), 1, 0, ...named(STACK_POINTER), 3, 0];
	return Buffer.concat([
		Uint8Array.from(number(count + 2)),
		body.subarray(reader.at),
		Uint8Array.from(added),
	]);
}

function dataOf(reader: Reader): Segment[] {
	const count = reader.number();
	return Array.from({length: count}, () => {
		const isPlain = reader.number() === 0 && reader.byte() === I32_CONST;
		const offset = reader.number();
		if (!isPlain || reader.byte() !== END)
			throw new Error('This build of Python has data that this does not know.');
		return [offset, reader.take(reader.number())] as const;
	});
}
