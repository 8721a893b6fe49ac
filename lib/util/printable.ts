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

/** Escapes the same characters in multi-line text, except line feeds and tabs. */
export const printableLines = (text: string): string =>
	text
		.replaceAll('\r\n', '\n')
		.replace(unsafe, char => (char === '\n' || char === '\t' ? char : escaped(char)));

/**
 * Replaces the same characters in JSON text by JSON escapes. The value and the white space between values
 * stay the same.
 */
export const printableJson = (json: string): string =>
	json.replace(unsafe, char =>
		char < ' ' ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
	);

const MAX_LENGTH = 200;

export const shortened = (text: string): string =>
	text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH)}…`;
