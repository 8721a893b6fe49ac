/** A string of JSON, or of TOML, which has those in single quotes, too. */
const STRING = /"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/y;
const BLANK = /[ \t\r\n]*/y;

type Span = {readonly start: number; readonly end: number};

/** A text with these words, as they are written, at the start of the list that opens here. */
export function withFirst(text: string, open: number, words: readonly string[]): string {
	const blank = text.slice(open + 1, after(text, open + 1, BLANK));
	const isEmpty = text[open + 1 + blank.length] === ']';
	const between = `,${blank === '' ? ' ' : blank}`;
	const inserted = isEmpty ? words.join(', ') : `${blank}${words.map(word => word + between).join('')}`;
	const rest = text.slice(open + 1 + (isEmpty ? 0 : blank.length));
	return `${text.slice(0, open + 1)}${inserted}${rest}`;
}

/** The same text without the first words of the list. It is what `withFirst` made it of. */
export function withoutFirst(text: string, open: number, count: number): string {
	const strings = firstStrings(text, open, count);
	const [first, last] = [strings[0], strings.at(-1)];
	if (!first || !last || strings.length < count) return text;
	const comma = after(text, last.end, BLANK);
	const isMore = text[comma] === ',';
	const end = isMore ? after(text, comma + 1, BLANK) : last.end;
	return `${text.slice(0, first.start)}${text.slice(end)}`;
}

/** The strings that the list starts with, at most so many. */
export function firstStrings(text: string, open: number, count: number): Span[] {
	const spans: Span[] = [];
	for (let at = after(text, open + 1, BLANK); spans.length < count; ) {
		const end = after(text, at, STRING);
		if (end === at) break;
		spans.push({start: at, end});
		const comma = after(text, end, BLANK);
		if (text[comma] !== ',') break;
		at = after(text, comma + 1, BLANK);
	}
	return spans;
}

/** Where the string that starts here ends; undefined where none does. */
export function endOfString(text: string, start: number): number | undefined {
	const end = after(text, start, STRING);
	return end === start ? undefined : end;
}

function after(text: string, at: number, pattern: RegExp): number {
	pattern.lastIndex = at;
	return pattern.test(text) ? pattern.lastIndex : at;
}
