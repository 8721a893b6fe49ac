import type {Mistake, Path} from './mistakes.js';
import {PathMap, type ReadonlyPathMap} from './path-map.js';

/** A text that was understood, or what is wrong with it; and the line that each value is in. */
export type Parsed = {
	readonly value: unknown;
	readonly lines: ReadonlyPathMap<number>;
	readonly mistakes: readonly Mistake[];
};

/** No configuration is nested deeper. */
export const MAX_DEPTH = 64;

/** The text of the mistake in a file with too many values. */
export const tooMany = (maxValues: number): string => `A configuration has at most ${maxValues} values.`;

/** JSON with comments and with commas behind the last item, as editors keep it. A key may not stand twice. */
export function parseJson(text: string, maxValues = Number.POSITIVE_INFINITY): Parsed {
	const reader = new Reader(text, maxValues);
	try {
		return {value: reader.whole(), lines: reader.lines, mistakes: []};
	} catch (error) {
		if (!(error instanceof Unreadable)) throw error;
		const {message, at} = error;
		return {value: undefined, lines: reader.lines, mistakes: [{text: message, ...placeOf(text, at)}]};
	}
}

/** The line and the column, from 1, of a position in a text. */
function placeOf(text: string, at: number): {readonly line: number; readonly column: number} {
	const before = text.slice(0, at).split('\n');
	return {line: before.length, column: (before.at(-1) ?? '').length + 1};
}

class Unreadable extends Error {
	readonly at: number;

	constructor(message: string, at: number) {
		super(message);
		this.at = at;
	}
}

const SPACE = /[ \t\r\n]+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y;
const WORD = /[\w+.-]+/y;

class Reader {
	readonly lines = new PathMap<number>();
	readonly #text: string;
	readonly #maxValues: number;
	#values = 0;
	#at = 0;
	#line = 1;
	#counted = 0;

	constructor(text: string, maxValues: number) {
		this.#text = text;
		this.#maxValues = maxValues;
	}

	whole(): unknown {
		const value = this.#value([]);
		this.#space();
		if (this.#at < this.#text.length) this.#fail('Something follows the end of the configuration.');
		return value;
	}

	#value(path: Path): unknown {
		if (path.length > MAX_DEPTH) this.#fail('This is nested too deeply.');
		if (++this.#values > this.#maxValues) this.#fail(tooMany(this.#maxValues));
		this.#space();
		if (!this.lines.has(path)) this.lines.set(path, this.#lineHere());
		if (this.#takes('{')) return this.#object(path);
		if (this.#takes('[')) return this.#list(path);
		return this.#scalar();
	}

	#object(path: Path): unknown {
		const entries = new Map<string, unknown>();
		for (let more = true; more && !this.#closes('}'); more = this.#continues('}')) {
			const start = this.#at;
			const key =
				this.#text[start] === '"' ? this.#string() : this.#fail('A key in double quotes is missing.');
			const here = [...path, key];
			if (entries.has(key)) this.#fail(`The key ${JSON.stringify(key)} stands here twice.`, start);
			this.lines.set(here, this.#lineHere());
			this.#space();
			if (!this.#takes(':')) this.#fail('A : is missing behind the key.');
			entries.set(key, this.#value(here));
		}
		return Object.fromEntries(entries);
	}

	#list(path: Path): unknown {
		const items: unknown[] = [];
		for (let more = true; more && !this.#closes(']'); more = this.#continues(']'))
			items.push(this.#value([...path, items.length]));
		return items;
	}

	/** Whether the end of what is open comes next, which is stepped over then. */
	#closes(end: string): boolean {
		this.#space();
		return this.#takes(end);
	}

	/** Whether something may follow behind an item. */
	#continues(end: string): boolean {
		this.#space();
		if (this.#takes(',')) return true;
		if (this.#takes(end)) return false;
		return this.#fail(`A , or ${end} is missing.`);
	}

	#scalar(): unknown {
		if (this.#text[this.#at] === '"') return this.#string();
		const start = this.#at;
		return this.#parsed(this.#match(WORD) ?? '', start);
	}

	#string(): string {
		const start = this.#at;
		let end = start + 1;
		while (this.#text[end] !== '"') {
			if (end >= this.#text.length || this.#text[end] === '\n') this.#fail('The closing " is missing.');
			end += this.#text[end] === '\\' ? 2 : 1;
		}
		this.#at = end + 1;
		return String(this.#parsed(this.#text.slice(start, this.#at), start));
	}

	#parsed(text: string, start: number): unknown {
		try {
			return JSON.parse(text);
		} catch {
			const isString = text.startsWith('"');
			return this.#fail(isString ? 'This text is not written as JSON has it.' : 'A value is missing.', start);
		}
	}

	#space(): void {
		while (this.#match(SPACE) !== undefined);
		if (this.#text.startsWith('/*', this.#at)) this.#fail('The end of this comment is missing.');
	}

	#takes(character: string): boolean {
		const isHere = this.#text[this.#at] === character;
		if (isHere) this.#at++;
		return isHere;
	}

	#match(pattern: RegExp): string | undefined {
		pattern.lastIndex = this.#at;
		const [text] = pattern.exec(this.#text) ?? [];
		this.#at += text?.length ?? 0;
		return text;
	}

	#lineHere(): number {
		for (; this.#counted < this.#at; this.#counted++) if (this.#text[this.#counted] === '\n') this.#line++;
		return this.#line;
	}

	#fail(message: string, at = this.#at): never {
		throw new Unreadable(message, at);
	}
}
