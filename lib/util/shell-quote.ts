/** Quotes a word as one argument of a shell command. */
export const shellQuote = (word: string): string =>
	/^[\w./:@=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
