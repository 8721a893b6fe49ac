/** The names on the path to a value. An item of a list may have both a name and an index. */
export type ValuePath = ReadonlyArray<string | readonly [name: string, index: string]>;

/** A JSON pointer to values, in which `*` matches any name. */
export type PointerPattern = readonly string[];

/** Parses a JSON pointer; undefined if it is invalid. */
export const parsePointer = (text: string): PointerPattern | undefined =>
	text.startsWith('/') ? text.slice(1).split('/').map(unescapeSegment) : undefined;

const unescapeSegment = (segment: string): string => segment.replaceAll('~1', '/').replaceAll('~0', '~');
const escapeSegment = (segment: string): string => segment.replaceAll('~', '~0').replaceAll('/', '~1');

export const formatPointer = (path: ValuePath): string =>
	path.map(segment => `/${escapeSegment(typeof segment === 'string' ? segment : segment[0])}`).join('');

/** Whether the pattern matches a value, or a value that contains it. */
export const matchesPrefix = (pattern: PointerPattern, path: ValuePath): boolean =>
	pattern.length <= path.length && pattern.every((name, at) => matchesSegment(name, path[at] ?? ''));

const matchesSegment = (name: string, segment: ValuePath[number]): boolean =>
	name === '*' || (typeof segment === 'string' ? name === segment : segment.includes(name));
