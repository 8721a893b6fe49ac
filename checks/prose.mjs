// The sentences of a file: comments and texts of TypeScript, and the text of Markdown outside of code.

/** A comment, a string, a regular expression, the start of a template literal, or a brace. */
const TOKEN = new RegExp(
	[
		String.raw`(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)`,
		String.raw`(?<text>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")`,
		// A slash starts an expression only after an operator, an opening bracket or a keyword.
		String.raw`(?<=(?:^|[(,=:[!&|?{};+\-*%~^<>\n]|\breturn|\btypeof|\bcase)\s*)(?<expression>\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/)`,
		'(?<template>`)',
		'(?<brace>[{}])',
	].join('|'),
	'g',
);
/** A part of a template literal, up to its end or to the next expression in it. */
const PART = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(?<end>`|\$\{)/y;

/** The comments and string literals of a source, each with its position and kind: `comment` or `text`. */
export function proseOf(text) {
	const found = [];
	/** For each open template literal, the depth of braces in its current expression. */
	const depths = [];
	const token = new RegExp(TOKEN);
	const readPart = from => {
		PART.lastIndex = from;
		const match = PART.exec(text);
		if (!match) return;
		const {0: part, groups} = match;
		found.push({kind: 'text', at: from, text: part.slice(0, -groups.end.length)});
		token.lastIndex = PART.lastIndex;
		if (groups.end === '${') depths.push(0);
	};
	const readBrace = (brace, next) => {
		if (depths.length === 0) return;
		const depth = depths.pop() + (brace === '{' ? 1 : -1);
		if (depth < 0) readPart(next);
		else depths.push(depth);
	};
	for (let match = token.exec(text); match; match = token.exec(text)) {
		const {comment, text: string, template, brace} = match.groups;
		if (comment !== undefined) found.push({kind: 'comment', at: match.index, text: comment});
		else if (string !== undefined) found.push({kind: 'text', at: match.index + 1, text: string.slice(1, -1)});
		else if (template !== undefined) readPart(token.lastIndex);
		else if (brace !== undefined) readBrace(brace, token.lastIndex);
	}
	return found;
}

/** The text of a page without fenced blocks and inline code. All positions stay the same. */
export const markdownProse = page =>
	page
		.replace(/^([ \t]*)```.*?^\1```$/gms, block => block.replace(/[^\n]/g, ' '))
		.replace(/`[^`\n]+`/g, code => 'x'.padEnd(code.length, 'x'))
		.replace(/<!--.*?-->/gs, comment => comment.replace(/[^\n]/g, ' '));
