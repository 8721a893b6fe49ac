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

/** Longer literals are left to the interpreter: they could overflow the stack of the expressions above. */
const MAX_LITERAL_LENGTH = 2 ** 20;

/** The value of one string literal of Python's without prefix and rare escapes; `undefined` for any other text. */
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
 * The value of a number literal that means the same to Python and to JSON: whole ones that no double rounds, and
 * fractions. `1.0` is none of them, since JavaScript would take it for a whole number.
 */
export function parseNumberLiteral(source: string): number | undefined {
	if (/^(0|[1-9]\d{0,14})$/.test(source)) return Number(source);
	if (!/^\d+\.\d+$/.test(source)) return;
	const value = Number(source);
	return Number.isInteger(value) ? undefined : value;
}
