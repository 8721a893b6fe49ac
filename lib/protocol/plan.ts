import {contentTypes} from './content.js';
import type {Rule} from './step.js';

/** Shorter messages are looked through as text, in one go; longer ones as bytes, word for word. */
const SHORT = 4096;
const TYPE = Buffer.from('"type"');

/** The rules for one kind of message, and what tells beforehand that none of them applies. */
export class Plan {
	readonly rules: readonly Rule[];
	/** Whether every message has to be parsed. */
	readonly #isAlways: boolean;
	readonly #words: readonly Buffer[];
	readonly #looksAtTypes: boolean;
	readonly #pattern: RegExp;

	constructor(rules: readonly Rule[]) {
		const words = rules.flatMap(rule => rule.words ?? []);
		this.rules = rules;
		this.#isAlways = rules.some(({words, isForUnknownTypes}) => !words && !isForUnknownTypes);
		this.#words = words.map(word => Buffer.from(word));
		this.#looksAtTypes = rules.some(({isForUnknownTypes}) => isForUnknownTypes);
		const unknown = `"type"\\s*:\\s*(?!"(?:${contentTypes.join('|')})")`;
		this.#pattern = new RegExp([...words.map(escaped), ...(this.#looksAtTypes ? [unknown] : [])].join('|'));
	}

	/** Whether a message may change, by its bytes. Quotes within text are escaped, so what is found is no text. */
	mayChange(line: Buffer): boolean {
		if (this.#isAlways) return true;
		if (line.length < SHORT) return this.#pattern.test(line.toString('latin1'));
		return this.#words.some(word => line.includes(word)) || (this.#looksAtTypes && hasUnknownType(line));
	}
}

const escaped = (word: string): string => word.replaceAll(/[/.*+?^${}()|[\]\\-]/g, '\\$&');

/** Whether some value called type is no kind of content. */
function hasUnknownType(line: Buffer): boolean {
	for (let at = line.indexOf(TYPE); at !== -1; at = line.indexOf(TYPE, at)) {
		at += TYPE.length;
		while (line[at] === 0x20 || line[at] === 0x3a) at++;
		const end = line[at] === 0x22 ? line.indexOf(0x22, at + 1) : -1;
		if (end === -1 || !contentTypes.includes(line.toString('latin1', at + 1, end))) return true;
	}
	return false;
}
