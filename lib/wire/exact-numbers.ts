import {randomBytes} from 'node:crypto';
import {memberText} from './member.js';
import {numbersIn} from './number-tokens.js';

/** A word that no message has: nobody can guess it. */
const NONCE = randomBytes(6).toString('hex');

/** How a hidden number reads in a string, in JSON text, and in JSON text within a string. */
const placeholder = (at: number): string => `\u0000${NONCE} ${at}\u0000`;
/** Compiled from constants and the word, which is hexadecimal digits. */
const QUOTED = new RegExp(`"\\\\u0000${NONCE} (\\d+)\\\\u0000"`, 'g');
const NESTED = new RegExp(`\\\\"\\\\\\\\u0000${NONCE} (\\d+)\\\\\\\\u0000\\\\"`, 'g');
const BARE = new RegExp(`\\\\u0000${NONCE} (\\d+)\\\\u0000`, 'g');

/** Numbers that are hidden at a time, each of which takes some 200 bytes while its message is open. */
const MAX_PLACEHOLDERS = 100_000;

/** Whether a number would be written otherwise than it is here: 1.0 as 1, say. */
const isInexact = (token: string): boolean => String(Number(token)) !== token;
/** Whether that is an integer, which may be another one then. */
const isInexactInteger = (token: string): boolean => /^-?\d+$/.test(token) && isInexact(token);

/**
 * JSON whose numbers survive being parsed and written out anew: those that would not are hidden in strings, and come out
 * again wherever those strings went, be it into a text.
 *
 * Where that would hide more than 100,000 numbers, only integers are hidden; where these are more, only the id of the
 * message is. All others are written as JavaScript writes them then.
 */
export class ExactNumbers {
	readonly #texts: string[] = [];

	/** Parses text that is known to be JSON. */
	parse(json: string): unknown {
		for (const isHidden of [isInexact, isInexactInteger]) {
			const text = this.#withPlaceholders(json, isHidden);
			if (text !== undefined) return JSON.parse(text);
		}
		return this.#parseWithId(json);
	}

	/** The text with such numbers hidden; undefined where they are too many. */
	#withPlaceholders(json: string, isHidden: (token: string) => boolean): string | undefined {
		const parts: string[] = [];
		const countBefore = this.#texts.length;
		let done = 0;
		for (const {token, start} of numbersIn(json)) {
			if (!isHidden(token)) continue;
			parts.push(json.slice(done, start), JSON.stringify(this.raw(token)));
			done = start + token.length;
			if (this.#texts.length > MAX_PLACEHOLDERS) {
				this.#texts.length = countBefore;
				return;
			}
		}
		return parts.length === 0 ? json : [...parts, json.slice(done)].join('');
	}

	/** A message with another id would not be the response to its request any more. */
	#parseWithId(json: string): unknown {
		const value: unknown = JSON.parse(json);
		if (typeof value !== 'object' || value === null || !('id' in value)) return value;
		const id = memberText(Buffer.from(json), 'id');
		return typeof value.id === 'number' && id !== undefined ? {...value, id: this.raw(id)} : value;
	}

	/** A value that is written as this text: for ids, which only their own text tells apart. */
	raw(json: string): unknown {
		this.#texts.push(json);
		return placeholder(this.#texts.length - 1);
	}

	/** JSON text of a value made from what was parsed. */
	stringify(value: unknown): string {
		const json = JSON.stringify(value);
		if (this.#texts.length === 0) return json;
		const text = (_: string, at: string): string => this.#texts[Number(at)] ?? 'null';
		return json.replace(NESTED, text).replace(QUOTED, text).replace(BARE, text);
	}
}
