/** A part of the initial memory of a module. */
export type DataSegment = readonly [offset: number, bytes: Uint8Array];

/**
 * A module whose memory can be snapshotted: bounded memory, separate data, and exported table and stack
 * pointer.
 */
type PatchedModule = {readonly bytes: Uint8Array; readonly segments: readonly DataSegment[]};

/** The names of the added exports. */
export const TABLE_EXPORT = 'bridge_table';
export const STACK_POINTER_EXPORT = 'bridge_stack_pointer';

const section = {custom: 0, memory: 5, exports: 7, data: 11} as const;
const PAGE = 65_536;
const I32_CONST = 0x41;
const END = 0x0b;

/** Reads numbers and byte ranges of a module. */
class ModuleReader {
	readonly bytes: Uint8Array;
	at: number;

	constructor(bytes: Uint8Array, at = 0) {
		this.bytes = bytes;
		this.at = at;
	}

	readByte(): number {
		return this.bytes[this.at++] ?? 0;
	}

	readNumber(): number {
		let [value, shift] = [0, 0];
		for (;;) {
			const byte = this.readByte();
			value |= (byte & 0x7f) << shift;
			shift += 7;
			if (byte < 0x80) return value >>> 0;
		}
	}

	readBytes(length: number): Uint8Array {
		this.at += length;
		return this.bytes.subarray(this.at - length, this.at);
	}
}

function encodeNumber(value: number): number[] {
	const bytes: number[] = [];
	let rest = value;
	while (rest >= 0x80) {
		bytes.push((rest & 0x7f) | 0x80);
		rest >>>= 7;
	}
	return [...bytes, rest];
}

const encodeName = (name: string): number[] => [...encodeNumber(name.length), ...Buffer.from(name)];

/**
 * Patches a module with one memory, one table and one global, as the linker creates it from C. Drops
 * debugging sections, which are half of its size.
 */
export function patchModule(original: Uint8Array, maxMemoryBytes: number): PatchedModule {
	const reader = new ModuleReader(original);
	const parts: Uint8Array[] = [reader.readBytes(8)];
	let segments: readonly DataSegment[] = [];
	while (reader.at < original.length) {
		const id = reader.readByte();
		const body = reader.readBytes(reader.readNumber());
		if (id === section.custom) continue;
		if (id === section.data) {
			segments = parseDataSegments(new ModuleReader(body));
			continue;
		}
		const changed = patchSection(id, body, maxMemoryBytes);
		parts.push(Uint8Array.from([id, ...encodeNumber(changed.length)]), changed);
	}
	return {bytes: Buffer.concat(parts), segments};
}

function patchSection(id: number, body: Uint8Array, maxMemoryBytes: number): Uint8Array {
	const reader = new ModuleReader(body);
	if (id === section.memory) {
		reader.readBytes(2);
		const minPages = reader.readNumber();
		return Uint8Array.from([
			1,
			1,
			...encodeNumber(minPages),
			...encodeNumber(Math.max(minPages, Math.floor(maxMemoryBytes / PAGE))),
		]);
	}
	if (id !== section.exports) return body;
	const count = reader.readNumber();
	const added = [...encodeName(TABLE_EXPORT), 1, 0, ...encodeName(STACK_POINTER_EXPORT), 3, 0];
	return Buffer.concat([
		Uint8Array.from(encodeNumber(count + 2)),
		body.subarray(reader.at),
		Uint8Array.from(added),
	]);
}

function parseDataSegments(reader: ModuleReader): DataSegment[] {
	const count = reader.readNumber();
	return Array.from({length: count}, () => {
		const isPlain = reader.readNumber() === 0 && reader.readByte() === I32_CONST;
		const offset = reader.readNumber();
		if (!isPlain || reader.readByte() !== END)
			throw new Error('This build of Python has an unsupported kind of data segment.');
		return [offset, reader.readBytes(reader.readNumber())] as const;
	});
}
