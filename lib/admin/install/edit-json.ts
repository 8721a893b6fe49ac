/** Whitespace and comments between JSON tokens. */
const SPACE = /(?:[ \t\r\n\ufeff]|\/\/[^\n]*\n?|\/\*(?:[^*]|\*(?!\/))*\*\/)*/y;
const STRING = /"(?:[^"\\]|\\.)*"/y;
const WORD = /[^\s,\]}/]+/y;

type Span = {readonly start: number; readonly end: number};
type JsonMember = {readonly key: string; readonly start: number; readonly value: Span};

/** Thrown for text that is not valid JSON. */
class JsonEditError extends Error {
	override readonly name = 'JsonEditError';
}

/**
 * Sets the value at a path in a JSON text and creates missing objects. Everything else is preserved,
 * including comments.
 */
export function setJsonMember(text: string, path: readonly string[], value: unknown): string {
	const [key, ...rest] = path;
	if (text.trim() === '') return `${JSON.stringify(nested(path, value), undefined, 2)}\n`;
	const start = matchEnd(text, 0, SPACE);
	if (text[start] !== '{' || key === undefined) throw new JsonEditError('it is not an object');
	return setMember(text, start, [key, ...rest], value, 1);
}

function setMember(
	text: string,
	at: number,
	[key = '', ...rest]: readonly string[],
	value: unknown,
	depth: number,
): string {
	const {members, end} = listMembers(text, at);
	const member = members.find(each => each.key === key);
	if (member && rest.length > 0) {
		if (text[member.value.start] !== '{') throw new JsonEditError(`${key} is not an object`);
		return setMember(text, member.value.start, rest, value, depth + 1);
	}
	const unit = indentOf(text);
	const written = JSON.stringify(nested(rest, value), undefined, unit).replaceAll(
		'\n',
		`\n${unit.repeat(depth)}`,
	);
	if (member) return text.slice(0, member.value.start) + written + text.slice(member.value.end);
	// Inserts before all other members, where no comma or comment interferes.
	const line = `\n${unit.repeat(depth)}${JSON.stringify(key)}: ${written}`;
	const closing = text.slice(at + 1, end).includes('\n') ? '' : `\n${unit.repeat(depth - 1)}`;
	return `${text.slice(0, at + 1)}${line}${members.length > 0 ? ',' : closing}${text.slice(at + 1)}`;
}

/** Finds the offsets of the member at a path: of its key and of its value. */
export function findJsonMember(text: string, path: readonly string[]): JsonMember | undefined {
	let at = matchEnd(text, 0, SPACE);
	let member: JsonMember | undefined;
	for (const key of path) {
		if (text[at] !== '{') return;
		member = listMembers(text, at).members.find(each => each.key === key);
		if (!member) return;
		at = member.value.start;
	}
	return member;
}

const nested = (path: readonly string[], value: unknown): unknown =>
	path.reduceRight((inner, key) => ({[key]: inner}), value);

/** The indentation of the first level. */
const indentOf = (text: string): string =>
	[...text.matchAll(/\n([ \t]+)"/g)]
		.map(([, space = '']) => space)
		.reduce(
			(one, other) => (other.length < one.length ? other : one),
			text.match(/\n([ \t]+)"/)?.[1] ?? '  ',
		);

/** Lists the members of the object that starts at `open`, and the offset of its closing brace. */
function listMembers(text: string, open: number): {members: JsonMember[]; end: number} {
	const members: JsonMember[] = [];
	for (let at = matchEnd(text, open + 1, SPACE); ; ) {
		if (text[at] === '}') return {members, end: at};
		const keyEnd = matchEnd(text, at, STRING);
		if (keyEnd === at) throw new JsonEditError('a key is missing');
		const colon = matchEnd(text, keyEnd, SPACE);
		if (text[colon] !== ':') throw new JsonEditError('a colon is missing');
		const start = matchEnd(text, colon + 1, SPACE);
		const end = endOfValue(text, start);
		members.push({key: JSON.parse(text.slice(at, keyEnd)), start: at, value: {start, end}});
		at = matchEnd(text, end, SPACE);
		if (text[at] === ',') at = matchEnd(text, at + 1, SPACE);
		else if (text[at] !== '}') throw new JsonEditError('a comma is missing');
	}
}

function endOfValue(text: string, start: number): number {
	const first = text[start];
	if (first === '"') return matchEnd(text, start, STRING);
	if (first !== '{' && first !== '[') {
		const end = matchEnd(text, start, WORD);
		if (end === start) throw new JsonEditError('a value is missing');
		return end;
	}
	return endOfBrackets(text, start);
}

function endOfBrackets(text: string, start: number): number {
	let depth = 0;
	for (let at = start; at < text.length; at = matchEnd(text, at, SPACE)) {
		const char = text[at] ?? '';
		if ('{['.includes(char)) depth++;
		if ('}]'.includes(char)) depth--;
		at = char === '"' ? matchEnd(text, at, STRING) : at + 1;
		if (depth === 0) return at;
	}
	throw new JsonEditError('a bracket is not closed');
}

/** Returns the end of a match at an offset, or the offset if nothing matches. */
function matchEnd(text: string, at: number, pattern: RegExp): number {
	pattern.lastIndex = at;
	return pattern.test(text) ? pattern.lastIndex : at;
}
