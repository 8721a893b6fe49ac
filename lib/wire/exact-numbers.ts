import {randomBytes} from 'node:crypto';

/** Strings, to step over them, and numbers. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** A word that no message has: nobody can guess it. */
const WORD = randomBytes(6).toString('hex');

/** How a hidden number reads in a string, in JSON text, and in JSON text within a string. */
const hidden = (at: number): string => `\u0000${WORD} ${at}\u0000`;
const QUOTED = new RegExp(`"\\\\u0000${WORD} (\\d+)\\\\u0000"`, 'g');
const NESTED = new RegExp(`\\\\"\\\\\\\\u0000${WORD} (\\d+)\\\\\\\\u0000\\\\"`, 'g');
const BARE = new RegExp(`\\\\u0000${WORD} (\\d+)\\\\u0000`, 'g');

/**
 * JSON whose numbers survive being parsed and written out anew: those that would not are hidden in strings, and come out
 * again wherever those strings went, be it into a text.
 */
export class ExactNumbers {
	readonly #texts: string[] = [];

	/** Parses text that is known to be JSON. */
	parse(json: string): unknown {
		return JSON.parse(json.replace(TOKENS, token => this.#hide(token)));
	}

	/** A value that is written as this text: for ids, which only their own text tells apart. */
	raw(json: string): unknown {
		this.#texts.push(json);
		return hidden(this.#texts.length - 1);
	}

	#hide(token: string): string {
		if (token.startsWith('"') || String(Number(token)) === token) return token;
		return JSON.stringify(this.raw(token));
	}

	/** JSON text of a value made from what was parsed. */
	write(value: unknown): string {
		const json = JSON.stringify(value);
		if (this.#texts.length === 0) return json;
		const text = (_: string, at: string): string => this.#texts[Number(at)] ?? 'null';
		return json.replace(NESTED, text).replace(QUOTED, text).replace(BARE, text);
	}
}
