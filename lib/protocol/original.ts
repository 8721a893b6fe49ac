import {isObject, type JsonObject, objectOf, without} from './json.js';

/** Where a message that lost something keeps it, by the place that it stood at. */
export const ORIGINAL = 'io.bridge/original';

/** More than this is not carried twice. */
const MAX_BYTES = 16 * 1024;

/** The value with what it lost in its `_meta`, if that is little enough. */
export function withOriginals(value: JsonObject, originals: ReadonlyMap<string, unknown>): JsonObject {
	const meta = objectOf(value._meta);
	const kept = {...objectOf(meta[ORIGINAL]), ...Object.fromEntries(originals)};
	const isSmall = Buffer.byteLength(JSON.stringify(kept)) <= MAX_BYTES;
	return isSmall ? {...value, _meta: {...meta, [ORIGINAL]: kept}} : value;
}

/** The value with what it lost put back where the receiver takes it. */
export function restored(
	value: JsonObject,
	isWelcome: (original: unknown, pointer: string) => boolean,
): JsonObject {
	const originals = objectOf(objectOf(value._meta)[ORIGINAL]);
	const welcome = Object.entries(originals).filter(
		([pointer, original]) => pointer.startsWith('/') && isWelcome(original, pointer),
	);
	if (welcome.length === 0) return value;
	const filled = welcome.reduce<JsonObject>(
		(result, [pointer, original]) => put(result, path(pointer), original) as JsonObject,
		value,
	);
	const left = without(originals, ...welcome.map(([pointer]) => pointer));
	const meta = without(objectOf(filled._meta), ORIGINAL);
	if (Object.keys(left).length > 0) return {...filled, _meta: {...meta, [ORIGINAL]: left}};
	return Object.keys(meta).length > 0 ? {...filled, _meta: meta} : without(filled, '_meta');
}

const path = (pointer: string): string[] =>
	pointer
		.split('/')
		.slice(1)
		.map(name => name.replaceAll('~1', '/').replaceAll('~0', '~'));

/** A copy with something else at this place. A place that is not there is left alone. */
function put(value: unknown, [name, ...rest]: readonly string[], original: unknown): unknown {
	if (name === undefined) return original;
	if (Array.isArray(value)) {
		const index = /^(0|[1-9]\d*)$/.test(name) ? Number(name) : value.length;
		if (index >= value.length) return value;
		return value.with(index, put(value[index], rest, original));
	}
	if (!isObject(value) || (rest.length > 0 && !Object.hasOwn(value, name))) return value;
	// Not a computed member, which would take __proto__ for more than a name.
	return Object.fromEntries([
		...Object.entries(value).filter(([key]) => key !== name),
		[name, put(value[name], rest, original)],
	]);
}
