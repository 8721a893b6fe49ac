import {isObject, type JsonObject} from './json.js';

/**
 * A value as the schema of 2026-07-28 has JSON in places that it leaves open: without null, and without numbers that are
 * no integers. What does not fit is taken out and noted by its place; the same value if all of it fits.
 *
 * A list that something is taken out of is noted whole, since the places behind the gap are others then.
 */
export function fitted(value: unknown, pointer: string, removed: Map<string, unknown>): unknown {
	if (Array.isArray(value)) return fittedList(value, pointer, removed);
	return isObject(value) ? fittedObject(value, pointer, removed) : value;
}

/** The same for an object, which stays one. */
export function fittedObject(value: JsonObject, pointer: string, removed: Map<string, unknown>): JsonObject {
	let isSame = true;
	const members: Array<[string, unknown]> = [];
	for (const [name, member] of Object.entries(value)) {
		const at = `${pointer}/${escaped(name)}`;
		const fit = isForeign(member) ? undefined : fitted(member, at, removed);
		if (fit === undefined) removed.set(at, member);
		else members.push([name, fit]);
		isSame &&= fit === member;
	}
	return isSame ? value : Object.fromEntries(members);
}

function fittedList(list: readonly unknown[], pointer: string, removed: Map<string, unknown>): unknown {
	const within = new Map<string, unknown>();
	const fit = list
		.filter(item => !isForeign(item))
		.map((item, at) => fitted(item, `${pointer}/${at}`, within));
	if (fit.length < list.length) removed.set(pointer, list);
	else for (const [at, original] of within) removed.set(at, original);
	return fit.every((item, at) => item === list[at]) && fit.length === list.length ? list : fit;
}

const isForeign = (value: unknown): boolean =>
	value === null || (typeof value === 'number' && !Number.isInteger(value));

/** A name as a part of a JSON pointer. */
export const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');
