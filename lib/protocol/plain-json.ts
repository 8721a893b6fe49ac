import {isObject, type JsonObject} from '../util/json.js';
import {MAX_ORIGINAL_BYTES} from './originals.js';

/**
 * Removes values that the schema of 2026-07-28 does not allow in open objects: null, and numbers that are not
 * integers. Records them by JSON pointer. Returns the same value if nothing was removed.
 *
 * A list with removed items is recorded as a whole, because the indices after the gap change.
 */
export function stripUnsupported(
	value: JsonObject,
	pointer: string,
	removed: Map<string, unknown>,
): JsonObject {
	return stripObject(value, pointer, new RemovedValues(removed));
}

export function hasUnsupported(value: unknown): boolean {
	if (isUnsupported(value)) return true;
	if (Array.isArray(value)) return value.some(hasUnsupported);
	return isObject(value) && Object.values(value).some(hasUnsupported);
}

/**
 * The removed values, by JSON pointer. Once the pointers alone exceed the limit for originals, recording
 * stops: none would be preserved. Maps with long keys are slow, since V8 hashes strings over 16,383
 * characters by length alone.
 */
class RemovedValues {
	readonly #removed: Map<string, unknown>;
	/** The total length of the pointers, in characters. */
	#length = 0;

	constructor(removed: Map<string, unknown>) {
		this.#removed = removed;
	}

	add(pointer: string, original: unknown): void {
		if (this.#length > MAX_ORIGINAL_BYTES) return;
		this.#length += pointer.length;
		this.#removed.set(pointer, original);
	}
}

function stripValue(value: unknown, pointer: string, removed: RemovedValues | undefined): unknown {
	if (Array.isArray(value)) return stripList(value, pointer, removed);
	return isObject(value) ? stripObject(value, pointer, removed) : value;
}

function stripObject(value: JsonObject, pointer: string, removed: RemovedValues | undefined): JsonObject {
	let isSame = true;
	const members: Array<[string, unknown]> = [];
	for (const [name, member] of Object.entries(value)) {
		const at = `${pointer}/${escapePointer(name)}`;
		const stripped = isUnsupported(member) ? undefined : stripValue(member, at, removed);
		if (stripped === undefined) removed?.add(at, member);
		else members.push([name, stripped]);
		isSame &&= stripped === member;
	}
	return isSame ? value : Object.fromEntries(members);
}

function stripList(list: readonly unknown[], pointer: string, removed: RemovedValues | undefined): unknown {
	const supported = list.filter(item => !isUnsupported(item));
	const hasGap = supported.length < list.length;
	if (hasGap) removed?.add(pointer, list);
	const stripped = supported.map((item, at) =>
		stripValue(item, `${pointer}/${at}`, hasGap ? undefined : removed),
	);
	return !hasGap && stripped.every((item, at) => item === list[at]) ? list : stripped;
}

const isUnsupported = (value: unknown): boolean =>
	value === null || (typeof value === 'number' && !Number.isInteger(value));

export const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');
