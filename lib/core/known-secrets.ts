/** The text that replaces a secret in a log. */
export const REDACTED = '[redacted]';

/** Keys and tokens of well-known services. Each ends at the first character that cannot belong to it. */
const tokenPatterns = [
	/sk-[\w-]{16,}/,
	/[sr]k_(?:live|test)_\w{10,}/,
	/gh[pousr]_\w{20,}/,
	/github_pat_\w{20,}/,
	/glpat-[\w-]{20,}/,
	/xox[abeprs]-[\w-]{10,}/,
	/AIza[\w-]{35,}/,
	/npm_\w{36,}/,
	// An access key id of AWS, with its secret if that follows.
	/A[KS]IA[0-9A-Z]{16}(?:[\s:,/]{1,3}[\w+/]{40}(?![\w+/]))?/,
	// A JSON web token. It starts where no character of a token precedes, so each character is read at most three times. The bounds
	// keep the stack of the expression small.
	/(?<![\w-])eyJ[\w-]{10,20000}\.[\w-]{10,20000}\.[\w-]*/,
	/(?<=\bBearer )[\w.~+/-]{8,}=*/,
];
/** Compiled from the literals above only. */
const secretPattern = new RegExp(`\\b(?:${tokenPatterns.map(({source}) => source).join('|')})`, 'g');

const pemStart = /-----BEGIN [A-Z\d ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const PEM_END = '-----END ';

/** Redacts secrets by their form: keys of well-known services, JSON web tokens, private keys. Takes linear time. */
export const redactKnownSecrets = (text: string): string =>
	(text.includes('PRIVATE KEY') ? redactPrivateKeys(text) : text).replace(secretPattern, REDACTED);

/** Redacts each block from its first line to its last; one that is cut off, to the end of the text. */
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
