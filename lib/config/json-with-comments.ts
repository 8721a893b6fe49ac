import type {ConfigIssue, ConfigPath} from './issues.js';
import {PathMap, type ReadonlyPathMap} from './path-map.js';

/** A text that was understood, or what is wrong with it; and the line that each value is in. */
export type ParsedText = {
	readonly value: unknown;
	readonly lines: ReadonlyPathMap<number>;
	readonly issues: readonly ConfigIssue[];
};

/** No configuration is nested deeper. */
export const MAX_CONFIG_DEPTH = 64;

/** The text of the mistake in a file with too many values. */
export const tooManyValuesText = (maxValues: number): string =>
	`A configuration has at most ${maxValues} values.`;

/** JSON with comments and with commas behind the last item, as editors keep it. A key may not stand twice. */
export function parseJsonWithComments(text: string, maxValues = Number.POSITIVE_INFINITY): ParsedText {
	const reader = new JsonReader(text, maxValues);
	try {
		return {value: reader.document(), lines: reader.lines, issues: []};
	} catch (error) {
		if (!(error instanceof JsonSyntaxError)) throw error;
		const {message, offset} = error;
		return {
			value: undefined,
			lines: reader.lines,
			issues: [{text: message, ...lineAndColumnOf(text, offset)}],
		};
	}
}

/** The line and the column, from 1, of a position in a text. */
function lineAndColumnOf(text: string, offset: number): {readonly line: number; readonly column: number} {
	const before = text.slice(0, offset).split('\n');
	return {line: before.length, column: (before.at(-1) ?? '').length + 1};
}

class JsonSyntaxError extends Error {
	readonly offset: number;

	constructor(message: string, offset: number) {
		super(message);
		this.offset = offset;
	}
}

const SPACE = /[ \t\r\n]+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y;
const WORD = /[\w+.-]+/y;

class JsonReader {
	readonly lines = new PathMap<number>();
	readonly #text: string;
	readonly #maxValues: number;
	#values = 0;
	#offset = 0;
	#line = 1;
	#countedTo = 0;

	constructor(text: string, maxValues: number) {
		this.#text = text;
		this.#maxValues = maxValues;
	}

	document(): unknown {
		const value = this.#value([]);
		this.#skipSpace();
		if (this.#offset < this.#text.length) this.#fail('Something follows the end of the configuration.');
		return value;
	}

	#value(path: ConfigPath): unknown {
		if (path.length > MAX_CONFIG_DEPTH) this.#fail('This is nested too deeply.');
		if (++this.#values > this.#maxValues) this.#fail(tooManyValuesText(this.#maxValues));
		this.#skipSpace();
		if (!this.lines.has(path)) this.lines.set(path, this.#currentLine());
		if (this.#accept('{')) return this.#object(path);
		if (this.#accept('[')) return this.#list(path);
		return this.#scalar();
	}

	#object(path: ConfigPath): unknown {
		const entries = new Map<string, unknown>();
		for (let hasMore = true; hasMore && !this.#acceptEnd('}'); hasMore = this.#acceptSeparator('}')) {
			const start = this.#offset;
			const key =
				this.#text[start] === '"' ? this.#string() : this.#fail('A key in double quotes is missing.');
			const keyPath = [...path, key];
			if (entries.has(key)) this.#fail(`The key ${JSON.stringify(key)} stands here twice.`, start);
			this.lines.set(keyPath, this.#currentLine());
			this.#skipSpace();
			if (!this.#accept(':')) this.#fail('A : is missing behind the key.');
			entries.set(key, this.#value(keyPath));
		}
		return Object.fromEntries(entries);
	}

	#list(path: ConfigPath): unknown {
		const items: unknown[] = [];
		for (let hasMore = true; hasMore && !this.#acceptEnd(']'); hasMore = this.#acceptSeparator(']'))
			items.push(this.#value([...path, items.length]));
		return items;
	}

	/** Whether the end of what is open comes next, which is stepped over then. */
	#acceptEnd(end: string): boolean {
		this.#skipSpace();
		return this.#accept(end);
	}

	/** Whether something may follow behind an item. */
	#acceptSeparator(end: string): boolean {
		this.#skipSpace();
		if (this.#accept(',')) return true;
		if (this.#accept(end)) return false;
		return this.#fail(`A , or ${end} is missing.`);
	}

	#scalar(): unknown {
		if (this.#text[this.#offset] === '"') return this.#string();
		const start = this.#offset;
		return this.#parse(this.#match(WORD) ?? '', start);
	}

	#string(): string {
		const start = this.#offset;
		let end = start + 1;
		while (this.#text[end] !== '"') {
			if (end >= this.#text.length || this.#text[end] === '\n') this.#fail('The closing " is missing.');
			end += this.#text[end] === '\\' ? 2 : 1;
		}
		this.#offset = end + 1;
		return String(this.#parse(this.#text.slice(start, this.#offset), start));
	}

	#parse(text: string, start: number): unknown {
		try {
			return JSON.parse(text);
		} catch {
			const isString = text.startsWith('"');
			return this.#fail(isString ? 'This text is not written as JSON has it.' : 'A value is missing.', start);
		}
	}

	#skipSpace(): void {
		while (this.#match(SPACE) !== undefined);
		if (this.#text.startsWith('/*', this.#offset)) this.#fail('The end of this comment is missing.');
	}

	#accept(character: string): boolean {
		const isHere = this.#text[this.#offset] === character;
		if (isHere) this.#offset++;
		return isHere;
	}

	#match(pattern: RegExp): string | undefined {
		pattern.lastIndex = this.#offset;
		const [text] = pattern.exec(this.#text) ?? [];
		this.#offset += text?.length ?? 0;
		return text;
	}

	#currentLine(): number {
		for (; this.#countedTo < this.#offset; this.#countedTo++)
			if (this.#text[this.#countedTo] === '\n') this.#line++;
		return this.#line;
	}

	#fail(message: string, offset = this.#offset): never {
		throw new JsonSyntaxError(message, offset);
	}
}
