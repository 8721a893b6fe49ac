/** The names on the way to a value. Members of a list may go by their place and by a name of their own. */
export type Path = ReadonlyArray<string | readonly [name: string, place: string]>;

/** Where values are: a JSON pointer, in which `*` stands for any one name. */
export type Pattern = readonly string[];

/** Reads a JSON pointer; nothing if it is none. */
export const patternOf = (text: string): Pattern | undefined =>
	text.startsWith('/') ? text.slice(1).split('/').map(unescaped) : undefined;

const unescaped = (segment: string): string => segment.replaceAll('~1', '/').replaceAll('~0', '~');
const escaped = (segment: string): string => segment.replaceAll('~', '~0').replaceAll('/', '~1');

/** A path as it is written. */
export const pointerText = (path: Path): string =>
	path.map(segment => `/${escaped(typeof segment === 'string' ? segment : segment[0])}`).join('');

/** Whether a value is one that the pattern means, or inside of one. */
export const covers = (pattern: Pattern, path: Path): boolean =>
	pattern.length <= path.length && pattern.every((name, at) => fits(name, path[at] ?? ''));

const fits = (name: string, segment: Path[number]): boolean =>
	name === '*' || (typeof segment === 'string' ? name === segment : segment.includes(name));
