/** Characters of a peer's text that are kept, or copied into the errors of many requests. */
const MAX_LENGTH = 2000;

/** The start of a peer's text. It is a copy, since a slice keeps all of a long text in memory. */
export const truncated = (text: string): string =>
	text.length <= MAX_LENGTH ? text : Buffer.from(`${text.slice(0, MAX_LENGTH)}…`).toString();
