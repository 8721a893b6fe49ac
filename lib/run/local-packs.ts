import {readdir, readFile, stat} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {homedir} from 'node:os';
import {basename, extname, join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {fileStamp} from '../config/read-file.js';
import type {Log} from '../core/log.js';
import {without} from '../util/json.js';
import {pause} from '../util/pause.js';
import {type LocalFunction, localTool} from './local-tool.js';
import {messageOf} from './program-error.js';
import type {Pack} from './types.js';

const moduleExtensions = new Set(['.js', '.mjs', '.cjs']);
const MAX_PACKS = 200;
const DEFAULT_LOAD_TIMEOUT_MS = 10_000;

/**
 * Loads the packs in a folder. Each module is a pack and each exported function a tool. The signature comes
 * from the `inputSchema` of the function or from its doc comment. A module that cannot be loaded within the
 * timeout is skipped with a warning. A changed module is imported again on the next load.
 */
export async function loadLocalPacks(
	folder: string,
	log: Log,
	timeoutMs = DEFAULT_LOAD_TIMEOUT_MS,
): Promise<Pack[]> {
	const names = await modulesIn(folder).catch(error => {
		log.warn('run.packs.unreadable', `Cannot read the folder of local packs: ${messageOf(error)}`);
		return [];
	});
	if (names.length > MAX_PACKS) {
		log.warn(
			'run.packs.many',
			`The folder has ${names.length} local packs. Only the first ${MAX_PACKS} are loaded.`,
		);
	}
	const loaded = names.slice(0, MAX_PACKS).map(name => loadPack(join(folder, name), log, timeoutMs));
	return (await Promise.all(loaded)).filter(pack => pack !== undefined);
}

/** Returns a text that changes when a module in the folder is added, modified or removed. */
export async function stampPacks(folder: string): Promise<string> {
	const names = await modulesIn(folder).catch(() => []);
	const stamps = names
		.slice(0, MAX_PACKS)
		.map(async name => `${name} ${await fileStamp(join(folder, name))}`);
	return (await Promise.all(stamps)).join('\n');
}

const modulesIn = async (folder: string): Promise<string[]> =>
	(await readdir(folder)).filter(name => moduleExtensions.has(extname(name))).sort();

async function loadPack(path: string, log: Log, timeoutMs: number): Promise<Pack | undefined> {
	const name = basename(path, extname(path));
	try {
		const module = await Promise.race([importModule(path), pause(timeoutMs)]);
		if (module) return localPack(name, module, await readFile(path, 'utf8'));
		const seconds = timeoutMs / 1000;
		log.warn('run.pack.broken', `The local pack ${name} was skipped: it did not load within ${seconds} s.`);
	} catch (error) {
		log.warn('run.pack.broken', `The local pack ${name} cannot be loaded: ${messageOf(error)}`);
	}
	return;
}

type PackModule = {readonly [name: string]: unknown};

async function importModule(path: string): Promise<PackModule> {
	const {mtimeMs} = await stat(path);
	// CommonJS modules are cached by path, whatever the query of the URL.
	delete createRequire(path).cache[path];
	return import(`${pathToFileURL(path).href}?v=${mtimeMs}`);
}

/** The functions that a module exports by name, or, in a CommonJS module, as properties of one object. */
function exportedFunctions(module: PackModule): Array<[string, LocalFunction]> {
	// Node also exposes the exports object of a CommonJS module as a whole, as `default` and
	// `module.exports`.
	const {default: object} = module;
	const named = without({...module}, 'default', 'module.exports');
	const all = {...(typeof object === 'object' ? object : {}), ...named};
	return Object.entries(all).filter((entry): entry is [string, LocalFunction] => isToolFunction(entry[1]));
}

const isToolFunction = (value: unknown): boolean =>
	typeof value === 'function' && !/^class\b/.test(String(value));

function localPack(name: string, module: PackModule, source: string): Pack {
	const tools = new Map(exportedFunctions(module).map(([tool, run]) => [tool, localTool(tool, run, source)]));
	const {description} = module;
	return {
		name,
		source: 'local',
		...(typeof description === 'string' && {description}),
		tools: [...tools.values()].map(({tool}) => tool),
		async call(tool, args, signal) {
			try {
				return await tools.get(tool)?.run(args, signal);
			} catch (error) {
				throw new Error(withoutPaths(messageOf(error)));
			}
		},
	};
}

/** Hides local paths from the message. */
const withoutPaths = (message: string): string =>
	message.replaceAll(process.cwd(), '.').replaceAll(homedir(), '~');
