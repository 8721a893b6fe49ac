import {readdir, readFile} from 'node:fs/promises';
import {basename, extname, join} from 'node:path';
import {pathToFileURL} from 'node:url';
import type {Log} from '../log.js';
import {isObject, type JsonObject} from '../protocol/json.js';
import type {Arguments, Pack, PackTool} from '../run/types.js';
import {documentedIn, type Signature, signatureOf} from './pack-signature.js';

const MODULES = new Set(['.js', '.mjs', '.cjs']);
/** Files that are read of a folder; more than that are no packs, but somebody's home. */
const MAX_FILES = 100;

type Callable = (...args: unknown[]) => unknown;
type LocalTool = {readonly tool: PackTool; readonly call: (args: Arguments, signal: AbortSignal) => unknown};

/**
 * The packs of a folder: a module is a pack, and each function that it exports a tool. A module that cannot be loaded is
 * warned of, and the others are there.
 */
export async function loadPacks(folder: string, log: Log): Promise<readonly Pack[]> {
	const warn = (what: string, error: unknown): undefined =>
		void log.warn('hub.pack.failed', `${what} cannot be used: ${(error as Error).message}.`, {folder});
	const files = await readdir(folder).catch(error => warn('The folder of packs', error) ?? []);
	const modules = files.filter(file => MODULES.has(extname(file))).sort();
	if (modules.length > MAX_FILES) log.warn('hub.pack.many', `Of ${folder}, ${MAX_FILES} packs are used.`);
	const packs = modules
		.slice(0, MAX_FILES)
		.map(file => packIn(join(folder, file)).catch(error => warn(`The pack ${file}`, error)));
	return (await Promise.all(packs)).filter(pack => pack !== undefined);
}

async function packIn(file: string): Promise<Pack> {
	const source = await readFile(file, 'utf8');
	const exported: object = await import(pathToFileURL(file).href);
	const tools = new Map<string, LocalTool>();
	for (const [name, value] of Object.entries(exported))
		if (typeof value === 'function') tools.set(name, toolOf(name, value as Callable, source));
	return {
		name: basename(file, extname(file)),
		source: 'local',
		tools: [...tools.values()].map(({tool}) => tool),
		call: async (name, args, signal) => tools.get(name)?.call(args, signal),
	};
}

/** A function as a tool. One with a schema takes all arguments as one object; others take them by their names. */
function toolOf(name: string, callable: Callable, source: string): LocalTool {
	const {inputSchema, outputSchema, description} = callable as unknown as JsonObject;
	const documented = documentedIn(source, name);
	const signature: Signature = signatureOf(callable, documented);
	const text = typeof description === 'string' ? description : documented.description;
	const tool: PackTool = {
		name,
		...(text === '' ? {} : {description: text}),
		inputSchema: isObject(inputSchema) ? inputSchema : signature.inputSchema,
		...(isObject(outputSchema) ? {outputSchema} : {}),
	};
	const takesObject = isObject(inputSchema) || signature.takesObject;
	return {
		tool,
		call: (args, signal) =>
			takesObject
				? callable(args, {signal})
				: callable(...signature.names.map(parameter => args[parameter]), {signal}),
	};
}
