/** Control characters, line separators, and characters that change the direction of text. */
const unsafe = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

const escaped = (char: string): string => {
	const code = char.charCodeAt(0);
	return code < 0x100
		? `\\x${code.toString(16).padStart(2, '0')}`
		: `\\u${code.toString(16).padStart(4, '0')}`;
};

/** Escapes characters that could control a terminal, reverse text, or add lines to a log. */
export const printable = (text: string): string => text.replace(unsafe, escaped);

/** The same for text of several lines: line ends and tabs stay. */
export const printableLines = (text: string): string =>
	text
		.replaceAll('\r\n', '\n')
		.replace(unsafe, char => (char === '\n' || char === '\t' ? char : escaped(char)));

/** JSON text with such characters as JSON escapes. It means the same, and white space between values stays. */
export const printableJson = (json: string): string =>
	json.replace(unsafe, char =>
		char < ' ' ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
	);

const MAX_LENGTH = 200;

/** A text that fits on a line. */
export const shortened = (text: string): string =>
	text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH)}…`;
