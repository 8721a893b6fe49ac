const escapes = new Map([
	['n', '\n'],
	['r', '\r'],
	['t', '\t'],
	["'", "'"],
	['"', '"'],
	['\\', '\\'],
]);

const stringPatterns = [
	/^"""((?:[^"\\]|\\[nrt'"\\])*)"""$/,
	/^'''((?:[^'\\]|\\[nrt'"\\])*)'''$/,
	/^"((?:[^"\\\n]|\\[nrt'"\\])*)"$/,
	/^'((?:[^'\\\n]|\\[nrt'"\\])*)'$/,
];

/** Longer literals run in the interpreter, since they could overflow the stack of the patterns above. */
const MAX_LITERAL_LENGTH = 2 ** 20;

/**
 * Parses a Python string literal without a prefix or rare escapes. Returns `undefined` for any other text.
 */
export function parseStringLiteral(source: string): string | undefined {
	if (source.length > MAX_LITERAL_LENGTH) return;
	for (const pattern of stringPatterns) {
		const inner = pattern.exec(source)?.[1];
		if (inner !== undefined)
			return inner.replace(/\\(.)/g, (_, letter: string) => escapes.get(letter) ?? letter);
	}
	return;
}

/**
 * Parses a number literal that means the same in Python and JSON: fractions, and integers that a double
 * represents exactly. Rejects `1.0`, which JavaScript would treat as an integer.
 */
export function parseNumberLiteral(source: string): number | undefined {
	if (/^(0|[1-9]\d{0,14})$/.test(source)) return Number(source);
	if (!/^\d+\.\d+$/.test(source)) return;
	const value = Number(source);
	return Number.isInteger(value) ? undefined : value;
}
