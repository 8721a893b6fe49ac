/** A parameter of a function. Only parameters with a plain name are listed. */
type FunctionParameter = {readonly name: string; readonly isRequired: boolean};

/** The parameters of a function: `(a, b = 1)`, `a => …`, or one destructured object, `({a, b})`. */
type FunctionHead = {readonly parameters: readonly FunctionParameter[]; readonly isOneObject: boolean};

/**
 * Strings, templates and comments are one token each, since their brackets and commas have no meaning. Every
 * other character is its own token.
 */
const TOKEN =
	/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|\/\*(?:[^*]|\*(?!\/))*\*\/|\/\/[^\n]*|[\s\S]/g;

/** The change of the bracket depth after a token. */
const DEPTH_CHANGES = new Map([
	...['(', '[', '{'].map(open => [open, 1] as const),
	...[')', ']', '}'].map(close => [close, -1] as const),
]);

/** Parses the parameters from a function's source. */
export function parseFunctionHead(code: string): FunctionHead {
	const singleName = /^(?:async\s+)?([\w$]+)\s*=>/.exec(code)?.[1];
	if (singleName !== undefined)
		return {parameters: [{name: singleName, isRequired: true}], isOneObject: false};
	const parts = splitParameters(code, code.indexOf('('));
	const [first = ''] = parts;
	const isOneObject = first.startsWith('{');
	const names = isOneObject ? splitParameters(first, 0) : parts;
	return {parameters: names.flatMap(parseParameter), isOneObject};
}

/**
 * Parses `name`, `name = 1` or `name: other = 1`. Nested patterns and rest parameters have no name and are
 * skipped.
 */
function parseParameter(part: string): FunctionParameter[] {
	const [, name, initial] = /^([\w$]+)\s*(?::[^=]*)?(=)?/.exec(part) ?? [];
	return name === undefined ? [] : [{name, isRequired: initial === undefined}];
}

/** Splits the text between the bracket at `open` and its closing bracket at the commas. */
function splitParameters(code: string, open: number): string[] {
	const parts = [''];
	let depth = 0;
	for (const [token] of open < 0 ? [] : code.slice(open).matchAll(TOKEN)) {
		const previousDepth = depth;
		depth += DEPTH_CHANGES.get(token) ?? 0;
		if (depth === 0) break;
		if (previousDepth === 0 || /^\/[*/]/.test(token)) continue;
		if (token === ',' && depth === 1) parts.push('');
		else parts.push((parts.pop() ?? '') + token);
	}
	return parts.map(part => part.trim()).filter(part => part !== '');
}
