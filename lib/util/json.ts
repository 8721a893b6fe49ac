/** A JSON object. Never mutated, since it may be shared. */
export type JsonObject = {readonly [key: string]: unknown};

export const isObject = (value: unknown): value is JsonObject =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the value if it is an object, or an empty object. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Returns the object without some members, or the same object if it has none of them. */
export function without(object: JsonObject, ...names: readonly string[]): JsonObject {
	if (!names.some(name => name in object)) return object;
	return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** Returns the object with one member changed, or the same object if the value did not change. */
export function mapMember(object: JsonObject, name: string, change: (value: unknown) => unknown): JsonObject {
	const value = object[name];
	const result = change(value);
	return result === value ? object : {...object, [name]: result};
}

/** Returns the list with each object changed, or the same list if none changed. Other items stay the same. */
export function mapObjects(list: unknown, change: (item: JsonObject, index: number) => JsonObject): unknown {
	if (!Array.isArray(list)) return list;
	const result = list.map((item, index) => (isObject(item) ? change(item, index) : item));
	return result.some((item, index) => item !== list[index]) ? result : list;
}

/**
 * Formats a value for a sentence. Uses JSON, because converting an untrusted object with `String` may throw.
 */
export const toText = (value: unknown): string =>
	typeof value === 'string' ? value : String(JSON.stringify(value));

/** Whether bridge created a JSON-RPC error, so its message needs no further explanation. */
export const isBridgeError = (error: unknown): boolean => objectOf(objectOf(error).data).source === 'bridge';
