import {isObject, type JsonObject} from './json.js';
import {MAX_ORIGINAL_BYTES} from './original.js';

/**
 * A value as the schema of 2026-07-28 has JSON in places that it leaves open: without null, and without numbers that are
 * no integers. What does not fit is taken out and noted by its place; the same value if all of it fits.
 *
 * A list that something is taken out of is noted whole, since the places behind the gap are others then.
 */
export function fittedObject(value: JsonObject, pointer: string, removed: Map<string, unknown>): JsonObject {
	return objectIn(value, pointer, new Notes(removed));
}

/** Whether anything would be removed from a value. */
export function hasForeign(value: unknown): boolean {
	if (isForeign(value)) return true;
	if (Array.isArray(value)) return value.some(hasForeign);
	return isObject(value) && Object.values(value).some(hasForeign);
}

/**
 * Removed values, by their places. Once the places alone are longer than a message carries as originals, nothing more is
 * noted: none of it is carried then. Maps of long places are slow, since V8 hashes strings over 16,383 characters by
 * their length alone.
 */
class Notes {
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

function fitted(value: unknown, pointer: string, notes: Notes | undefined): unknown {
	if (Array.isArray(value)) return listIn(value, pointer, notes);
	return isObject(value) ? objectIn(value, pointer, notes) : value;
}

function objectIn(value: JsonObject, pointer: string, notes: Notes | undefined): JsonObject {
	let isSame = true;
	const members: Array<[string, unknown]> = [];
	for (const [name, member] of Object.entries(value)) {
		const at = `${pointer}/${escaped(name)}`;
		const fit = isForeign(member) ? undefined : fitted(member, at, notes);
		if (fit === undefined) notes?.add(at, member);
		else members.push([name, fit]);
		isSame &&= fit === member;
	}
	return isSame ? value : Object.fromEntries(members);
}

function listIn(list: readonly unknown[], pointer: string, notes: Notes | undefined): unknown {
	const left = list.filter(item => !isForeign(item));
	const hasGap = left.length < list.length;
	if (hasGap) notes?.add(pointer, list);
	const fit = left.map((item, at) => fitted(item, `${pointer}/${at}`, hasGap ? undefined : notes));
	return !hasGap && fit.every((item, at) => item === list[at]) ? list : fit;
}

const isForeign = (value: unknown): boolean =>
	value === null || (typeof value === 'number' && !Number.isInteger(value));

/** A name as a part of a JSON pointer. */
export const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');
