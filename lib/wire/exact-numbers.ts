/** Strings, to step over them, and numbers. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** In front of the place of a number, in a string that is no message's own: messages with such strings have none. */
const MARK = '\u0000number ';
const PLACES = /"\\u0000number (\d+)"/g;

/**
 * JSON whose numbers survive being parsed and written out anew: those that would not are hidden in strings.
 *
 * To be given text that is known to be JSON, and to have such numbers.
 */
export class ExactNumbers {
	readonly #numbers: string[] = [];
	/** The JSON to parse. */
	readonly json: string;

	constructor(json: string) {
		this.json = json.includes('\\u0000number ') ? json : json.replace(TOKENS, token => this.#hidden(token));
	}

	#hidden(token: string): string {
		if (token.startsWith('"') || String(Number(token)) === token) return token;
		this.#numbers.push(token);
		return JSON.stringify(`${MARK}${this.#numbers.length - 1}`);
	}

	/** JSON text of a value made from what was parsed, all numbers as they were. */
	write(value: unknown): string {
		const json = JSON.stringify(value);
		if (this.#numbers.length === 0) return json;
		return json.replace(PLACES, (_, at: string) => this.#numbers[Number(at)] ?? 'null');
	}
}
