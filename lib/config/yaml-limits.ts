import {CST, Lexer, Parser} from 'yaml';

/** Entries of the parser's stack: the document, its open collections, and a scalar. A file within MAX_DEPTH has fewer. */
const MAX_STACK = 100;

/** Tokens per value, at most: a key, a colon, a value and a comma. A plain text has a mark before it, which is another. */
const TOKENS_PER_VALUE = 6;

/** The line, from 1, and the reason why a text is not given to the composer. */
export type YamlExcess = {readonly line: number; readonly kind: 'nesting' | 'values'};

/**
 * Finds the place where a text is nested too deeply or has too many tokens. The composer of the YAML library calls itself
 * for each level, and a process whose stack is full may be aborted, which cannot be caught. The parser below it has a
 * stack in memory, which is compared with the limit after each token.
 */
export function findYamlExcess(text: string, maxValues: number): YamlExcess | undefined {
	let line = 1;
	const parser = new Parser(() => line++);
	let tokens = 0;
	for (const source of new Lexer().lex(text)) {
		// Only the composer needs the tokens that it yields.
		for (const _token of parser.next(source));
		if (parser.stack.length > MAX_STACK) return {line, kind: 'nesting'};
		if (!isBlank(source) && ++tokens > maxValues * TOKENS_PER_VALUE) return {line, kind: 'values'};
	}
	return;
}

const blankTokens: ReadonlySet<string | null> = new Set(['space', 'newline', 'comment']);
const isBlank = (source: string): boolean => blankTokens.has(CST.tokenType(source));
