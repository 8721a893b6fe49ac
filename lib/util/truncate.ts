/** The maximum length of a peer's text that is stored or copied into errors. */
const MAX_LENGTH = 2000;

/** Truncates a peer's text. Returns a copy, since a slice would keep the whole text in memory. */
export const truncated = (text: string): string =>
	text.length <= MAX_LENGTH ? text : Buffer.from(`${text.slice(0, MAX_LENGTH)}…`).toString();
