/**
 * The next quote or number. Strings are skipped in code, since matching many escapes would overflow the stack
 * of a regular expression.
 */
const TOKEN = /"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

const BACKSLASH = 0x5c;

type NumberToken = {readonly token: string; readonly start: number};

/** Yields the numbers of a JSON text outside of strings, in order. */
export function* numbersIn(json: string): Generator<NumberToken> {
	let at = 0;
	for (;;) {
		TOKEN.lastIndex = at;
		const match = TOKEN.exec(json);
		if (!match) return;
		const [token] = match;
		if (token === '"') at = endOfString(json, match.index);
		else {
			at = TOKEN.lastIndex;
			yield {token, start: match.index};
		}
	}
}

/**
 * Returns the position after a string, which ends at a quote with an even number of backslashes before it.
 */
function endOfString(json: string, start: number): number {
	for (let quote = json.indexOf('"', start + 1); quote !== -1; quote = json.indexOf('"', quote + 1)) {
		let at = quote;
		while (json.charCodeAt(at - 1) === BACKSLASH) at--;
		if ((quote - at) % 2 === 0) return quote + 1;
	}
	return json.length;
}
