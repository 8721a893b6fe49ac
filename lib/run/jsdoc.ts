/** One `@param` of a comment. */
export type DocParameter = {
	readonly name: string;
	readonly type: string;
	readonly isRequired: boolean;
	/** As it is written. */
	readonly initial?: string;
	readonly description: string;
};

/** What a comment says of a function. */
export type Doc = {readonly description: string; readonly parameters: readonly DocParameter[]};

const exported = /\s*export\s+(?:async\s+)?(?:function\s*(?:\*\s*)?|const\s+|let\s+)([\w$]+)/y;

/** The comments in front of what a module exports, by the names of it. */
export function docsIn(source: string): Map<string, Doc> {
	const docs = new Map<string, Doc>();
	for (let start = source.indexOf('/**'); start !== -1; start = source.indexOf('/**', start + 3)) {
		const end = source.indexOf('*/', start + 3);
		if (end === -1) break;
		exported.lastIndex = end + 2;
		const name = exported.exec(source)?.[1];
		if (name !== undefined) docs.set(name, docOf(source.slice(start + 3, end)));
		start = end - 1;
	}
	return docs;
}

function docOf(comment: string): Doc {
	const lines = comment.split('\n').map(line => line.replace(/^\s*\*? ?/, '').trimEnd());
	const [description = '', ...tags] = lines.join('\n').split(/^(?=@\w)|(?<=\s)(?=@param\s)/m);
	return {description: description.trim(), parameters: tags.flatMap(parameterIn)};
}

function parameterIn(tag: string): DocParameter[] {
	const pattern = /^@param\s+(?:\{([^}]*)\}\s*)?(\[?)([\w$.]+)(?:\s*=\s*([^\]]*))?\]?\s*-?\s*([\s\S]*)/;
	const [, type = '', bracket, name, initial, description = ''] = pattern.exec(tag) ?? [];
	if (name === undefined) return [];
	const isRequired = bracket === '' && !type.endsWith('=');
	const rest = {name, type: type.replace(/=$/, ''), isRequired, description: description.trim()};
	return [initial === undefined ? rest : {...rest, initial: initial.trim()}];
}

const simple = new Map([
	['string', 'string'],
	['number', 'number'],
	['integer', 'integer'],
	['int', 'integer'],
	['boolean', 'boolean'],
	['object', 'object'],
	['array', 'array'],
]);

/** The schema of a type as comments name it. What is unknown may be anything. */
export function schemaOf(type: string): {readonly [key: string]: unknown} {
	const name = type.trim();
	const element = /^(.+)\[\]$/.exec(name)?.[1] ?? /^Array<(.+)>$/.exec(name)?.[1];
	if (element !== undefined) return {type: 'array', items: schemaOf(element)};
	const known = simple.get(name.toLowerCase());
	return known === undefined ? {} : {type: known};
}
