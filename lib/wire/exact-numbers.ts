import {randomBytes} from 'node:crypto';
import {memberText} from './member.js';
import {numbersIn} from './number-tokens.js';

/** Random, so that no message can contain it. */
const NONCE = randomBytes(6).toString('hex');

/**
 * The placeholder of a number. The patterns below match it in JSON text, in JSON text inside of a string, and
 * in a plain string.
 */
const placeholder = (at: number): string => `\u0000${NONCE} ${at}\u0000`;
const QUOTED = new RegExp(`"\\\\u0000${NONCE} (\\d+)\\\\u0000"`, 'g');
const NESTED = new RegExp(`\\\\"\\\\\\\\u0000${NONCE} (\\d+)\\\\\\\\u0000\\\\"`, 'g');
const BARE = new RegExp(`\\\\u0000${NONCE} (\\d+)\\\\u0000`, 'g');

/** The maximum number of placeholders. Each takes about 200 bytes until its message is sent. */
const MAX_PLACEHOLDERS = 100_000;

/** Whether JavaScript would serialize a number differently, such as 1.0 as 1. */
const isInexact = (token: string): boolean => String(Number(token)) !== token;
/** Whether a number is an integer that may change its value. */
const isInexactInteger = (token: string): boolean => /^-?\d+$/.test(token) && isInexact(token);

/**
 * Parses and serializes JSON without changing the spelling of numbers. Numbers that JavaScript would change
 * are replaced by placeholder strings and restored wherever these strings end up, even inside of other texts.
 *
 * Above 100,000 placeholders, only integers are replaced. If there are still too many, only the id of the
 * message is.
 */
export class ExactNumbers {
	readonly #texts: string[] = [];

	/** Parses text that must be valid JSON. */
	parse(json: string): unknown {
		for (const isHidden of [isInexact, isInexactInteger]) {
			const text = this.#withPlaceholders(json, isHidden);
			if (text !== undefined) return JSON.parse(text);
		}
		return this.#parseWithId(json);
	}

	/** Returns the text with placeholders, or undefined if there are too many. */
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

	/** Keeps the id exact, since a response with another id would not match its request. */
	#parseWithId(json: string): unknown {
		const value: unknown = JSON.parse(json);
		if (typeof value !== 'object' || value === null || !('id' in value)) return value;
		const id = memberText(Buffer.from(json), 'id');
		return typeof value.id === 'number' && id !== undefined ? {...value, id: this.raw(id)} : value;
	}

	/** Returns a value that is serialized as exactly this text, for ids. */
	raw(json: string): unknown {
		this.#texts.push(json);
		return placeholder(this.#texts.length - 1);
	}

	/** Serializes a value and restores the numbers. */
	stringify(value: unknown): string {
		const json = JSON.stringify(value);
		if (this.#texts.length === 0) return json;
		const text = (_: string, at: string): string => this.#texts[Number(at)] ?? 'null';
		return json.replace(NESTED, text).replace(QUOTED, text).replace(BARE, text);
	}
}
