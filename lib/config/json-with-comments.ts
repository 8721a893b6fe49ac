import type {ConfigIssue, ConfigPath} from './issues.js';
import {PathMap, type ReadonlyPathMap} from './path-map.js';

/** A parsed value or the syntax errors, and the line of each value. */
export type ParsedText = {
	readonly value: unknown;
	readonly lines: ReadonlyPathMap<number>;
	readonly issues: readonly ConfigIssue[];
};

/** The maximum nesting depth of a configuration. */
export const MAX_CONFIG_DEPTH = 64;

/** The message for a file with too many values. */
export const tooManyValuesText = (maxValues: number): string =>
	`A configuration has at most ${maxValues} values.`;

/** Parses JSON with comments and trailing commas. Rejects duplicate keys. */
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

/** Returns the one-based line and column of an offset. */
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
		if (this.#offset < this.#text.length) this.#fail('Unexpected text after the end of the configuration.');
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
			const key = this.#text[start] === '"' ? this.#string() : this.#fail('Expected a key in double quotes.');
			const keyPath = [...path, key];
			if (entries.has(key)) this.#fail(`Duplicate key ${JSON.stringify(key)}.`, start);
			this.lines.set(keyPath, this.#currentLine());
			this.#skipSpace();
			if (!this.#accept(':')) this.#fail('Expected : after the key.');
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

	/** Consumes the closing bracket if it comes next. */
	#acceptEnd(end: string): boolean {
		this.#skipSpace();
		return this.#accept(end);
	}

	/** Consumes the separator after an item. Returns whether another item may follow. */
	#acceptSeparator(end: string): boolean {
		this.#skipSpace();
		if (this.#accept(',')) return true;
		if (this.#accept(end)) return false;
		return this.#fail(`Expected , or ${end}.`);
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
			return this.#fail(isString ? 'Invalid JSON string.' : 'Expected a value.', start);
		}
	}

	#skipSpace(): void {
		while (this.#match(SPACE) !== undefined);
		if (this.#text.startsWith('/*', this.#offset)) this.#fail('This comment is not closed.');
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
