import {isObject, type JsonObject} from '../util/json.js';
import {MAX_ORIGINAL_BYTES} from './originals.js';

/**
 * A value as the schema of 2026-07-28 has JSON in places that it leaves open: without null, and without numbers that are
 * no integers. What does not fit is taken out and noted by its place; the same value if all of it fits.
 *
 * A list that something is taken out of is noted whole, since the places behind the gap are others then.
 */
export function stripUnsupported(
	value: JsonObject,
	pointer: string,
	removed: Map<string, unknown>,
): JsonObject {
	return stripObject(value, pointer, new RemovedValues(removed));
}

/** Whether anything would be removed from a value. */
export function hasUnsupported(value: unknown): boolean {
	if (isUnsupported(value)) return true;
	if (Array.isArray(value)) return value.some(hasUnsupported);
	return isObject(value) && Object.values(value).some(hasUnsupported);
}

/**
 * Removed values, by their places. Once the places alone are longer than a message carries as originals, nothing more is
 * noted: none of it is carried then. Maps of long places are slow, since V8 hashes strings over 16,383 characters by
 * their length alone.
 */
class RemovedValues {
	readonly #removed: Map<string, unknown>;
	/** Characters of places. */
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

/** A name as a part of a JSON pointer. */
export const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');
