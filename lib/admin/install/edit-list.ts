/** A string in JSON or TOML. TOML also has strings in single quotes. */
const STRING = /"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/y;
const BLANK = /[ \t\r\n]*/y;

type Span = {readonly start: number; readonly end: number};

/** Inserts words, already quoted, at the start of the list that opens at `open`. */
export function prependWords(text: string, open: number, words: readonly string[]): string {
	const leadingSpace = text.slice(open + 1, matchEnd(text, open + 1, BLANK));
	const isEmpty = text[open + 1 + leadingSpace.length] === ']';
	const separator = `,${leadingSpace === '' ? ' ' : leadingSpace}`;
	const inserted = isEmpty
		? words.join(', ')
		: `${leadingSpace}${words.map(word => word + separator).join('')}`;
	const rest = text.slice(open + 1 + (isEmpty ? 0 : leadingSpace.length));
	return `${text.slice(0, open + 1)}${inserted}${rest}`;
}

/** Removes the first words of a list. Reverses `prependWords`. */
export function removeFirstWords(text: string, open: number, count: number): string {
	const strings = firstStrings(text, open, count);
	const [first, last] = [strings[0], strings.at(-1)];
	if (!first || !last || strings.length < count) return text;
	const comma = matchEnd(text, last.end, BLANK);
	const hasMore = text[comma] === ',';
	const end = hasMore ? matchEnd(text, comma + 1, BLANK) : last.end;
	return `${text.slice(0, first.start)}${text.slice(end)}`;
}

/** Returns up to `count` strings at the start of a list. */
export function firstStrings(text: string, open: number, count: number): Span[] {
	const spans: Span[] = [];
	for (let at = matchEnd(text, open + 1, BLANK); spans.length < count; ) {
		const end = matchEnd(text, at, STRING);
		if (end === at) break;
		spans.push({start: at, end});
		const comma = matchEnd(text, end, BLANK);
		if (text[comma] !== ',') break;
		at = matchEnd(text, comma + 1, BLANK);
	}
	return spans;
}

/** Returns the end of the string at an offset, or undefined if there is none. */
export function endOfString(text: string, start: number): number | undefined {
	const end = matchEnd(text, start, STRING);
	return end === start ? undefined : end;
}

function matchEnd(text: string, at: number, pattern: RegExp): number {
	pattern.lastIndex = at;
	return pattern.test(text) ? pattern.lastIndex : at;
}
