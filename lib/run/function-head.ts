/** A parameter in the head of a function, as far as it is a name. */
type FunctionParameter = {readonly name: string; readonly isRequired: boolean};

/** What the head of a function says of its parameters: `(a, b = 1)`, `a => …`, or one object, `({a, b})`. */
type FunctionHead = {readonly parameters: readonly FunctionParameter[]; readonly isOneObject: boolean};

/** Texts, templates and comments are one token each: brackets and commas mean nothing in them. All else is a letter. */
const TOKEN =
	/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|\/\*(?:[^*]|\*(?!\/))*\*\/|\/\/[^\n]*|[\s\S]/g;

/** How much deeper in brackets one is after a token. */
const DEPTH_CHANGES = new Map([
	...['(', '[', '{'].map(open => [open, 1] as const),
	...[')', ']', '}'].map(close => [close, -1] as const),
]);

/** Reads the head of a function from its source. */
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

/** `name`, `name = 1`, `name: other = 1`. A pattern or the rest of the arguments has no name to be called by. */
function parseParameter(part: string): FunctionParameter[] {
	const [, name, initial] = /^([\w$]+)\s*(?::[^=]*)?(=)?/.exec(part) ?? [];
	return name === undefined ? [] : [{name, isRequired: initial === undefined}];
}

/** What stands between the bracket at this place and the one that closes it, cut at its commas. */
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
