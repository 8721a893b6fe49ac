/** A text without control characters, which could write anything to a terminal, or more than one line to a log. */
export const printable = (text: string): string =>
	text.replace(/\p{Cc}/gu, char => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);

const MAX_LENGTH = 200;

/** A text that fits on a line. */
export const shortened = (text: string): string =>
	text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH)}…`;
