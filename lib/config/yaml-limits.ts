import {CST, Lexer, Parser} from 'yaml';

/**
 * The limit of the parser's stack: the document, its open collections and a scalar. Valid files need fewer.
 */
const MAX_STACK = 100;

/**
 * The maximum number of tokens per value: a key, a colon, a value, a comma, and marks before plain scalars.
 */
const TOKENS_PER_VALUE = 6;

/** The one-based line and the kind of the limit that a text exceeds. */
export type YamlExcess = {readonly line: number; readonly kind: 'nesting' | 'values'};

/**
 * Finds where a text is nested too deeply or has too many tokens. The YAML library's composer is recursive,
 * and a stack overflow may abort the process without an exception. Its parser keeps an explicit stack, whose
 * length is checked after each token.
 */
export function findYamlExcess(text: string, maxValues: number): YamlExcess | undefined {
	let line = 1;
	const parser = new Parser(() => line++);
	let tokens = 0;
	for (const source of new Lexer().lex(text)) {
		// Runs the parser for its stack. Only the composer needs the yielded tokens.
		for (const _token of parser.next(source));
		if (parser.stack.length > MAX_STACK) return {line, kind: 'nesting'};
		if (!isBlank(source) && ++tokens > maxValues * TOKENS_PER_VALUE) return {line, kind: 'values'};
	}
	return;
}

const blankTokens: ReadonlySet<string | null> = new Set(['space', 'newline', 'comment']);
const isBlank = (source: string): boolean => blankTokens.has(CST.tokenType(source));
