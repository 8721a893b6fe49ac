export type JsdocParameter = {
	readonly name: string;
	readonly type: string;
	readonly isRequired: boolean;
	/** The source text of the default. */
	readonly defaultText?: string;
	readonly description: string;
};

/** The parsed doc comment of a function. */
export type Jsdoc = {readonly description: string; readonly parameters: readonly JsdocParameter[]};

const EXPORT_PATTERN = /\s*export\s+(?:async\s+)?(?:function\s*(?:\*\s*)?|const\s+|let\s+)([\w$]+)/y;

/** Returns the doc comments of the exports of a module, by export name. */
export function parseJsdocs(source: string): Map<string, Jsdoc> {
	const docs = new Map<string, Jsdoc>();
	for (let start = source.indexOf('/**'); start !== -1; start = source.indexOf('/**', start + 3)) {
		const end = source.indexOf('*/', start + 3);
		if (end === -1) break;
		EXPORT_PATTERN.lastIndex = end + 2;
		const name = EXPORT_PATTERN.exec(source)?.[1];
		if (name !== undefined) docs.set(name, parseJsdoc(source.slice(start + 3, end)));
		start = end - 1;
	}
	return docs;
}

function parseJsdoc(comment: string): Jsdoc {
	const lines = comment.split('\n').map(line => line.replace(/^\s*\*? ?/, '').trimEnd());
	const [description = '', ...tags] = lines.join('\n').split(/^(?=@\w)|(?<=\s)(?=@param\s)/m);
	return {description: description.trim(), parameters: tags.flatMap(parseParam)};
}

function parseParam(tag: string): JsdocParameter[] {
	const pattern = /^@param\s+(?:\{([^}]*)\}\s*)?(\[?)([\w$.]+)(?:\s*=\s*([^\]]*))?\]?\s*-?\s*([\s\S]*)/;
	const [, type = '', bracket, name, defaultText, description = ''] = pattern.exec(tag) ?? [];
	if (name === undefined) return [];
	const isRequired = bracket === '' && !type.endsWith('=');
	const rest = {name, type: type.replace(/=$/, ''), isRequired, description: description.trim()};
	return [defaultText === undefined ? rest : {...rest, defaultText: defaultText.trim()}];
}

const simpleTypes = new Map([
	['string', 'string'],
	['number', 'number'],
	['integer', 'integer'],
	['int', 'integer'],
	['boolean', 'boolean'],
	['object', 'object'],
	['array', 'array'],
]);

/** Converts a JSDoc type to a JSON Schema. Unknown types accept any value. */
export function schemaOfType(type: string): {readonly [key: string]: unknown} {
	const name = type.trim();
	const element = /^(.+)\[\]$/.exec(name)?.[1] ?? /^Array<(.+)>$/.exec(name)?.[1];
	if (element !== undefined) return {type: 'array', items: schemaOfType(element)};
	const simpleType = simpleTypes.get(name.toLowerCase());
	return simpleType === undefined ? {} : {type: simpleType};
}
