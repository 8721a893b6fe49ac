const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c] as const;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d] as const;

type JsonComplexity = {
	readonly values: number;
	readonly members: number;
	readonly depth: number;
};

/**
 * Counts the values and members of a JSON text and its depth without parsing it. Parsing creates an object
 * for each value, which takes up to fifty times as long and ten times the memory of the text. The result for
 * text that is not JSON is arbitrary.
 */
export function jsonComplexity(bytes: Uint8Array): JsonComplexity {
	let [values, members, depth, deepest] = [1, 0, 0, 0];
	for (let at = 0; at < bytes.length; at++) {
		const byte = bytes[at];
		if (byte === QUOTE) at = endOfString(bytes, at);
		else if (byte === COMMA) values++;
		else if (byte === COLON) members++;
		else if (opens(byte)) {
			values++;
			if (++depth > deepest) deepest = depth;
		} else if (closes(byte)) depth--;
	}
	return {values, members, depth: deepest};
}

const opens = (byte: number | undefined): boolean => byte === OPEN_LIST || byte === OPEN_OBJECT;
const closes = (byte: number | undefined): boolean => byte === CLOSE_LIST || byte === CLOSE_OBJECT;

/** Returns the position of the closing quote, or the length of the text if there is none. */
function endOfString(bytes: Uint8Array, start: number): number {
	for (let at = bytes.indexOf(QUOTE, start + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
		let first = at;
		while (first > start + 1 && bytes[first - 1] === BACKSLASH) first--;
		if ((at - first) % 2 === 0) return at;
	}
	return bytes.length;
}
