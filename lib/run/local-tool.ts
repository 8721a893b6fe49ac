import {parseFunctionHead} from './function-head.js';
import {asObject} from './input-schema.js';
import {type Jsdoc, type JsdocParameter, parseJsdocs, schemaOfType} from './jsdoc.js';
import type {Arguments, PackTool} from './types.js';

export type LocalFunction = {(...args: unknown[]): unknown; inputSchema?: unknown; description?: unknown};

type LocalTool = {readonly tool: PackTool; run(args: Arguments, signal: AbortSignal): unknown};

/**
 * Creates a tool from a function. The function gets all arguments as one object if it has an `inputSchema`,
 * or if its doc comment or its parameter list describes one object. Otherwise, each parameter gets its own
 * argument. The last argument is always `{signal}`.
 */
export function localTool(name: string, run: LocalFunction, source: string): LocalTool {
	const doc = parseJsdocs(source).get(name);
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
		run: (args, signal) =>
			run(...parameters.map(({name: parameterName}) => asObject(args)[parameterName]), {signal}),
	};
}

type Parameters = {readonly parameters: readonly JsdocParameter[]; readonly isOneObject: boolean};

function parametersOf(doc: Jsdoc | undefined, run: LocalFunction): Parameters {
	const documented = doc?.parameters ?? [];
	if (documented.length === 0) return parametersFromHead(run);
	const dotted = documented.filter(({name}) => name.includes('.'));
	if (dotted.length === 0) return {parameters: documented, isOneObject: false};
	const parameters = dotted.map(parameter => ({...parameter, name: parameter.name.replace(/^[^.]*\./, '')}));
	return {parameters, isOneObject: true};
}

/** The parameters of an undocumented function, from its parameter list. */
function parametersFromHead(run: LocalFunction): Parameters {
	const {parameters, isOneObject} = parseFunctionHead(run.toString());
	return {parameters: parameters.map(one => ({...one, type: '', description: ''})), isOneObject};
}

function inputSchemaOf(parameters: readonly JsdocParameter[]): unknown {
	return {
		type: 'object',
		properties: Object.fromEntries(parameters.map(parameter => [parameter.name, propertyOf(parameter)])),
		required: parameters.filter(({isRequired}) => isRequired).map(({name}) => name),
	};
}

function propertyOf({type, defaultText, description}: JsdocParameter): unknown {
	return {
		...schemaOfType(type),
		...(description !== '' && {description}),
		...(defaultText !== undefined && {default: parseDefault(defaultText)}),
	};
}

function parseDefault(text: string): unknown {
	try {
		return JSON.parse(text.replace(/^'(.*)'$/, '"$1"'));
	} catch {
		return text;
	}
}
