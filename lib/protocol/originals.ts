import {isObject, type JsonObject, objectOf, without} from '../util/json.js';

/** The `_meta` key with the values that a translation removed, by JSON pointer. */
export const ORIGINAL = 'io.bridge/original';

/** Bytes of the originals as JSON. Larger originals are not preserved. */
export const MAX_ORIGINAL_BYTES = 16 * 1024;
/** Bytes of the originals as JSON. Parsed numbers may be longer than sent, so this limit is higher. */
const MAX_RESTORED_BYTES = 4 * MAX_ORIGINAL_BYTES;

/** Returns the value with its originals in `_meta`, if they are within the limit. */
export function withOriginals(value: JsonObject, originals: ReadonlyMap<string, unknown>): JsonObject {
	const meta = objectOf(value._meta);
	const originalsByPointer = {...objectOf(meta[ORIGINAL]), ...Object.fromEntries(originals)};
	const isSmall = Buffer.byteLength(JSON.stringify(originalsByPointer)) <= MAX_ORIGINAL_BYTES;
	return isSmall ? {...value, _meta: {...meta, [ORIGINAL]: originalsByPointer}} : value;
}

/** Restores the originals that the receiver accepts. Originals above the limit are left in `_meta`. */
export function restoreOriginals(
	value: JsonObject,
	accepts: (original: unknown, pointer: string) => boolean,
): JsonObject {
	const originalsByPointer = objectOf(objectOf(value._meta)[ORIGINAL]);
	const originals = Object.entries(originalsByPointer);
	if (originals.length === 0 || Buffer.byteLength(JSON.stringify(originalsByPointer)) > MAX_RESTORED_BYTES)
		return value;
	const remaining: Array<[string, unknown]> = [];
	const target = new RestoreTarget(value);
	for (const [pointer, original] of originals)
		if (pointer.startsWith('/') && accepts(original, pointer)) target.put(pointerPath(pointer), original);
		else remaining.push([pointer, original]);
	if (remaining.length === originals.length) return value;
	const restoredValue = target.value;
	const meta = without(objectOf(restoredValue._meta), ORIGINAL);
	if (remaining.length > 0)
		return {...restoredValue, _meta: {...meta, [ORIGINAL]: Object.fromEntries(remaining)}};
	return Object.keys(meta).length > 0 ? {...restoredValue, _meta: meta} : without(restoredValue, '_meta');
}

const pointerPath = (pointer: string): string[] =>
	pointer
		.split('/')
		.slice(1)
		.map(name => name.replaceAll('~1', '/').replaceAll('~0', '~'));

type Container = unknown[] | Record<string, unknown>;

/** A copy of a value in which originals are restored. Each object and list is copied at most once. */
class RestoreTarget {
	readonly #copies = new Set<unknown>();
	#value: JsonObject;

	constructor(value: JsonObject) {
		this.#value = value;
	}

	get value(): JsonObject {
		return this.#value;
	}

	/** Replaces the value at a path. Ignores paths that do not exist. */
	put(names: readonly string[], original: unknown): void {
		if (!hasPath(this.#value, names)) return;
		let container = this.#copyOf(this.#value);
		this.#value = container as JsonObject;
		for (const name of names.slice(0, -1)) {
			const next = this.#copyOf(Reflect.get(container, name));
			setMember(container, name, next);
			container = next;
		}
		setMember(container, names.at(-1) ?? '', original);
	}

	#copyOf(container: unknown): Container {
		if (this.#copies.has(container)) return container as Container;
		const copy = Array.isArray(container) ? [...container] : {...(container as JsonObject)};
		this.#copies.add(copy);
		return copy;
	}
}

/** Whether the path leads to an item of a list, or to a member of an object. The last member may be new. */
function hasPath(value: unknown, names: readonly string[]): boolean {
	let container = value;
	for (const [at, name] of names.entries()) {
		const isMember = Array.isArray(container) ? isIndex(container, name) : isObject(container);
		const isNew = isMember && !Object.hasOwn(container as object, name);
		if (!isMember || isNew) return isMember && at === names.length - 1;
		container = Reflect.get(container as object, name);
	}
	return true;
}

const isIndex = (list: readonly unknown[], name: string): boolean =>
	/^(0|[1-9]\d*)$/.test(name) && Number(name) < list.length;

/** Defines the property, because assigning to `__proto__` would set the prototype. */
const setMember = (container: Container, name: string, value: unknown): boolean =>
	Reflect.defineProperty(container, name, {value, writable: true, enumerable: true, configurable: true});
