/** The names on the way to a value. Members of a list may go by their place and by a name of their own. */
export type ValuePath = ReadonlyArray<string | readonly [name: string, place: string]>;

/** Where values are: a JSON pointer, in which `*` stands for any one name. */
export type PointerPattern = readonly string[];

/** Reads a JSON pointer; nothing if it is none. */
export const parsePointer = (text: string): PointerPattern | undefined =>
	text.startsWith('/') ? text.slice(1).split('/').map(unescapeSegment) : undefined;

const unescapeSegment = (segment: string): string => segment.replaceAll('~1', '/').replaceAll('~0', '~');
const escapeSegment = (segment: string): string => segment.replaceAll('~', '~0').replaceAll('/', '~1');

/** A path as it is written. */
export const formatPointer = (path: ValuePath): string =>
	path.map(segment => `/${escapeSegment(typeof segment === 'string' ? segment : segment[0])}`).join('');

/** Whether a value is one that the pattern means, or inside of one. */
export const matchesPrefix = (pattern: PointerPattern, path: ValuePath): boolean =>
	pattern.length <= path.length && pattern.every((name, at) => matchesSegment(name, path[at] ?? ''));

const matchesSegment = (name: string, segment: ValuePath[number]): boolean =>
	name === '*' || (typeof segment === 'string' ? name === segment : segment.includes(name));
