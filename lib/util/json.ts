/** A JSON object. Never changed in place: whoever holds it may be somebody else. */
export type JsonObject = {readonly [key: string]: unknown};

export const isObject = (value: unknown): value is JsonObject =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value if it is an object, else an empty one. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The object less some of its members; the same object if it has none of them. */
export function without(object: JsonObject, ...names: readonly string[]): JsonObject {
	if (!names.some(name => name in object)) return object;
	return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** The object with one member changed; the same object if the change is none. */
export function mapMember(object: JsonObject, name: string, change: (value: unknown) => unknown): JsonObject {
	const value = object[name];
	const result = change(value);
	return result === value ? object : {...object, [name]: result};
}

/** The list with each object in it changed; the same list if no change is one. What is no object stays. */
export function mapObjects(list: unknown, change: (item: JsonObject, index: number) => JsonObject): unknown {
	if (!Array.isArray(list)) return list;
	const result = list.map((item, index) => (isObject(item) ? change(item, index) : item));
	return result.some((item, index) => item !== list[index]) ? result : list;
}

/** A value in a sentence. Values come from anywhere, and an object need not let itself be made a text. */
export const toText = (value: unknown): string =>
	typeof value === 'string' ? value : String(JSON.stringify(value));

/** Whether an error of JSON-RPC was made by bridge, so that its message is complete. */
export const isBridgeError = (error: unknown): boolean => objectOf(objectOf(error).data).source === 'bridge';
