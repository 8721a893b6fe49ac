import type {JsonObject} from '../protocol/json.js';

/** What a comment in front of a function says of it. */
export type Documented = {
	readonly description: string;
	readonly parameters: ReadonlyMap<string, JsonObject & {readonly isOptional: boolean}>;
};

/** How a function is called. */
export type Signature = {
	/** Its parameters, in order. */
	readonly names: readonly string[];
	/** Whether it takes them as the members of one object. */
	readonly takesObject: boolean;
	readonly inputSchema: JsonObject;
};

const TYPES: ReadonlyMap<string, string> = new Map([
	...(['string', 'number', 'boolean', 'object', 'integer'] as const).map(type => [type, type] as const),
	['array', 'array'],
]);

const PARAM = /^@param\s+(?:\{([^}]*)\}\s+)?(\[?)([\w$.]+)(?:=[^\]]*)?\]?\s*-?\s*([\s\S]*)$/;

/** Finds the JSDoc comment of an exported function in the source of its module. */
export function documentedIn(source: string, name: string): Documented {
	const exported = `export\\s+(?:async\\s+)?(?:function\\*?|const|let)\\s+${name.replaceAll('$', '\\$')}\\b`;
	const [, comment = ''] = new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s*${exported}`).exec(source) ?? [];
	const lines = comment.split('\n').map(line => line.replace(/^\s*\*?\s?/, '').trimEnd());
	const [description = '', ...tags] = lines
		.join('\n')
		.trim()
		.split(/\n(?=@)|^(?=@)/);
	const parameters = new Map<string, JsonObject & {readonly isOptional: boolean}>();
	for (const tag of description.startsWith('@') ? [description, ...tags] : tags) {
		const [, type = '', bracket, given = '', text = ''] = PARAM.exec(tag) ?? [];
		const parameter = given.split('.').at(-1) ?? '';
		if (parameter === '' || type === 'object' || type === 'Object') continue;
		const isOptional = bracket === '[' || type.endsWith('=');
		parameters.set(parameter, {
			...typeOf(type),
			...(text === '' ? {} : {description: text.trim()}),
			isOptional,
		});
	}
	return {description: description.startsWith('@') ? '' : description.trim(), parameters};
}

function typeOf(type: string): JsonObject {
	const plain = type.replace(/=$/, '');
	const item = /^(?:Array<(.*)>|(.*)\[\])$/.exec(plain);
	if (item) return {type: 'array', items: typeOf(item[1] ?? item[2] ?? '')};
	const known = TYPES.get(plain.toLowerCase());
	return known === undefined ? {} : {type: known};
}

/** How a function wants to be called: by what it is written as, and what is said of it. */
export function signatureOf(callable: (...args: never[]) => unknown, {parameters}: Documented): Signature {
	const written = parametersOf(String(callable));
	const takesObject = written.startsWith('{');
	const inside = takesObject ? written.slice(1, written.lastIndexOf('}')) : written;
	const given = split(inside).map(part => ({
		name: /^[\w$]+/.exec(part.replace('...', ''))?.[0] ?? '',
		isOptional: part.includes('=') || part.startsWith('...'),
	}));
	const named = given.filter(({name}) => name !== '');
	const all = named.length === 0 && parameters.size > 0 ? documentedNames(parameters) : named;
	const properties = all.map(({name}) => {
		const {isOptional: _isOptional, ...schema} = parameters.get(name) ?? {isOptional: false};
		return [name, schema] as const;
	});
	const required = all.filter(one => !one.isOptional && parameters.get(one.name)?.isOptional !== true);
	return {
		names: all.map(({name}) => name),
		takesObject,
		inputSchema: {
			type: 'object',
			properties: Object.fromEntries(properties),
			required: required.map(({name}) => name),
		},
	};
}

const documentedNames = (parameters: Documented['parameters']) =>
	[...parameters].map(([name, {isOptional}]) => ({name, isOptional}));

/** The parameters of a function, as they are written between the parentheses. */
function parametersOf(source: string): string {
	const arrow = /^(?:async\s+)?([\w$]+)\s*=>/.exec(source)?.[1];
	if (arrow !== undefined) return arrow;
	const start = source.indexOf('(') + 1;
	let depth = 1;
	for (let at = start; at < source.length; at++) {
		if ('([{'.includes(source[at] ?? '')) depth++;
		if (')]}'.includes(source[at] ?? '') && --depth === 0) return source.slice(start, at).trim();
	}
	return '';
}

/** The parts between commas, without those in brackets. */
function split(text: string): string[] {
	const parts = [''];
	let depth = 0;
	for (const letter of text) {
		if ('([{'.includes(letter)) depth++;
		if (')]}'.includes(letter)) depth--;
		if (letter === ',' && depth === 0) parts.push('');
		else parts.push(`${parts.pop()}${letter}`);
	}
	return parts.map(part => part.trim()).filter(part => part !== '');
}
