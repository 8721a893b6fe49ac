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
 * The packs in a folder: a module is a pack, and each function that it exports a tool. What a comment or an
 * `inputSchema` says of a function is its signature. A module that cannot be loaded, or not in this time, is left out
 * with a warning. Loaded again, a module that has changed since is read anew.
 */
export async function loadLocalPacks(
	folder: string,
	log: Log,
	timeoutMs = DEFAULT_LOAD_TIMEOUT_MS,
): Promise<Pack[]> {
	const names = await modulesIn(folder).catch(error => {
		log.warn('run.packs.unreadable', `The folder of local packs cannot be read: ${messageOf(error)}`);
		return [];
	});
	if (names.length > MAX_PACKS) {
		log.warn('run.packs.many', `Of the ${names.length} local packs only the first ${MAX_PACKS} are loaded.`);
	}
	const loaded = names.slice(0, MAX_PACKS).map(name => loadPack(join(folder, name), log, timeoutMs));
	return (await Promise.all(loaded)).filter(pack => pack !== undefined);
}

/** What changes when a module of a folder is written to, comes or goes. */
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
		log.warn('run.pack.broken', `The local pack ${name} is left out: it was not loaded within ${seconds} s.`);
	} catch (error) {
		log.warn('run.pack.broken', `The local pack ${name} cannot be loaded: ${messageOf(error)}`);
	}
	return;
}

type PackModule = {readonly [name: string]: unknown};

async function importModule(path: string): Promise<PackModule> {
	const {mtimeMs} = await stat(path);
	// Modules of the older kind are kept by their paths, whatever follows those.
	delete createRequire(path).cache[path];
	return import(`${pathToFileURL(path).href}?v=${mtimeMs}`);
}

/** The functions that a module exports by name, or, as modules of the older kind do, in one object. */
function exportedFunctions(module: PackModule): Array<[string, LocalFunction]> {
	// What the older kind exports is there as a whole, too, under one name or two.
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

/** A message that tells nobody where on this machine things are. */
const withoutPaths = (message: string): string =>
	message.replaceAll(process.cwd(), '.').replaceAll(homedir(), '~');
