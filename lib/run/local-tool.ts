import {type Doc, type DocParameter, docsIn, schemaOf} from './jsdoc.js';
import {members} from './schema.js';
import type {Arguments, PackTool} from './types.js';

/** A function that a local pack exports. */
export type LocalFunction = {(...args: unknown[]): unknown; inputSchema?: unknown; description?: unknown};

/** A tool, and how it is run. */
export type LocalTool = {readonly tool: PackTool; run(args: Arguments, signal: AbortSignal): unknown};

/**
 * Makes a tool of a function. With an `inputSchema` it gets all arguments as one object; so it does when its comment
 * or its head has them as parts of one. Else each parameter gets its own. What comes last is always `{signal}`.
 */
export function localTool(name: string, run: LocalFunction, source: string): LocalTool {
	const doc = docsIn(source).get(name);
	const description = typeof run.description === 'string' ? run.description : (doc?.description ?? '');
	const rest = description === '' ? {} : {description};
	if (run.inputSchema !== undefined) {
		const tool = {name, ...rest, inputSchema: run.inputSchema};
		return {tool, run: (args, signal) => run(args, {signal})};
	}
	const {parameters, isOneObject} = parametersOf(doc, run);
	const tool = {name, ...rest, inputSchema: inputSchemaOf(parameters)};
	if (isOneObject) return {tool, run: (args, signal) => run(args, {signal})};
	return {
		tool,
		run: (args, signal) => run(...parameters.map(({name: of}) => members(args)[of]), {signal}),
	};
}

type Parameters = {readonly parameters: readonly DocParameter[]; readonly isOneObject: boolean};

function parametersOf(doc: Doc | undefined, run: LocalFunction): Parameters {
	const documented = doc?.parameters ?? [];
	if (documented.length === 0) return parametersIn(run.toString());
	const dotted = documented.filter(({name}) => name.includes('.'));
	if (dotted.length === 0) return {parameters: documented, isOneObject: false};
	const parameters = dotted.map(parameter => ({...parameter, name: parameter.name.replace(/^[^.]*\./, '')}));
	return {parameters, isOneObject: true};
}

/** The parameters in the head of a function, as far as they are names: `(a, b = 1)` or `({a, b})`. */
function parametersIn(code: string): Parameters {
	const head = /^[^(]*\(([^()]*(?:\([^()]*\)[^()]*)*)\)/.exec(code)?.[1] ?? '';
	const object = /^\s*\{([^}]*)\}/.exec(head)?.[1];
	const parameters = (object ?? head).split(',').flatMap(part => {
		const [, name, hasInitial] = /^\s*([\w$]+)\s*(=)?/.exec(part) ?? [];
		return name === undefined
			? []
			: [{name, type: '', isRequired: hasInitial === undefined, description: ''}];
	});
	return {parameters, isOneObject: object !== undefined};
}

function inputSchemaOf(parameters: readonly DocParameter[]): unknown {
	return {
		type: 'object',
		properties: Object.fromEntries(parameters.map(parameter => [parameter.name, propertyOf(parameter)])),
		required: parameters.filter(({isRequired}) => isRequired).map(({name}) => name),
	};
}

function propertyOf({type, initial, description}: DocParameter): unknown {
	return {
		...schemaOf(type),
		...(description !== '' && {description}),
		...(initial !== undefined && {default: literal(initial)}),
	};
}

function literal(text: string): unknown {
	try {
		return JSON.parse(text.replace(/^'(.*)'$/, '"$1"'));
	} catch {
		return text;
	}
}
