export const REDACTED = '[redacted]';

/**
 * Patterns of keys and tokens of well-known services. Each match ends at the first character that cannot
 * belong to the token.
 */
const tokenPatterns = [
	/sk-[\w-]{16,}/,
	/[sr]k_(?:live|test)_\w{10,}/,
	/gh[pousr]_\w{20,}/,
	/github_pat_\w{20,}/,
	/glpat-[\w-]{20,}/,
	/xox[abeprs]-[\w-]{10,}/,
	/AIza[\w-]{35,}/,
	/npm_\w{36,}/,
	// An AWS access key id, with its secret if that follows.
	/A[KS]IA[0-9A-Z]{16}(?:[\s:,/]{1,3}[\w+/]{40}(?![\w+/]))?/,
	// A JSON web token. The lookbehind makes the regular expression read each character at most three times.
	// The bounds limit its stack.
	/(?<![\w-])eyJ[\w-]{10,20000}\.[\w-]{10,20000}\.[\w-]*/,
	/(?<=\bBearer )[\w.~+/-]{8,}=*/,
];
const secretPattern = new RegExp(`\\b(?:${tokenPatterns.map(({source}) => source).join('|')})`, 'g');

const pemStart = /-----BEGIN [A-Z\d ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const PEM_END = '-----END ';

/**
 * Redacts secrets by their format: keys of well-known services, JSON web tokens and private keys. Takes
 * linear time.
 */
export const redactKnownSecrets = (text: string): string =>
	(text.includes('PRIVATE KEY') ? redactPrivateKeys(text) : text).replace(secretPattern, REDACTED);

/**
 * Redacts each block from its first to its last line. A truncated block is redacted to the end of the text.
 */
function redactPrivateKeys(text: string): string {
	const parts: string[] = [];
	let done = 0;
	pemStart.lastIndex = 0;
	for (let match = pemStart.exec(text); match; match = pemStart.exec(text)) {
		parts.push(text.slice(done, match.index), REDACTED);
		const end = text.indexOf(PEM_END, pemStart.lastIndex);
		const lineEnd = end === -1 ? -1 : text.indexOf('-----', end + PEM_END.length);
		done = lineEnd === -1 ? text.length : lineEnd + 5;
		pemStart.lastIndex = done;
	}
	return [...parts, text.slice(done)].join('');
}
