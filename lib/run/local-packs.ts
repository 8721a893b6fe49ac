import {readdir, readFile, stat} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {homedir} from 'node:os';
import {basename, extname, join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {stampNow} from '../config/read.js';
import type {Log} from '../log.js';
import {pause} from '../pause.js';
import {without} from '../protocol/json.js';
import {type LocalFunction, localTool} from './local-tool.js';
import {messageOf} from './program-error.js';
import type {Pack} from './types.js';

const endings = new Set(['.js', '.mjs', '.cjs']);
const MAX_PACKS = 200;
const LOAD_MS = 10_000;

/**
 * The packs in a folder: a module is a pack, and each function that it exports a tool. What a comment or an
 * `inputSchema` says of a function is its signature. A module that cannot be loaded, or not in this time, is left out
 * with a warning. Loaded again, a module that has changed since is read anew.
 */
export async function loadLocalPacks(folder: string, log: Log, timeoutMs = LOAD_MS): Promise<Pack[]> {
	const names = await modulesIn(folder).catch(error => {
		log.warn('run.packs.unreadable', `The folder of local packs cannot be read: ${messageOf(error)}`);
		return [];
	});
	if (names.length > MAX_PACKS) {
		log.warn('run.packs.many', `Of the ${names.length} local packs only the first ${MAX_PACKS} are loaded.`);
	}
	const loaded = names.slice(0, MAX_PACKS).map(name => load(join(folder, name), log, timeoutMs));
	return (await Promise.all(loaded)).filter(pack => pack !== undefined);
}

/** What changes when a module of a folder is written to, comes or goes. */
export async function stampOfPacks(folder: string): Promise<string> {
	const names = await modulesIn(folder).catch(() => []);
	const stamps = names.slice(0, MAX_PACKS).map(async name => `${name} ${await stampNow(join(folder, name))}`);
	return (await Promise.all(stamps)).join('\n');
}

const modulesIn = async (folder: string): Promise<string[]> =>
	(await readdir(folder)).filter(name => endings.has(extname(name))).sort();

async function load(path: string, log: Log, timeoutMs: number): Promise<Pack | undefined> {
	const name = basename(path, extname(path));
	try {
		const module = await Promise.race([imported(path), pause(timeoutMs)]);
		if (module) return packOf(name, module, await readFile(path, 'utf8'));
		const seconds = timeoutMs / 1000;
		log.warn('run.pack.broken', `The local pack ${name} is left out: it was not loaded within ${seconds} s.`);
	} catch (error) {
		log.warn('run.pack.broken', `The local pack ${name} cannot be loaded: ${messageOf(error)}`);
	}
	return;
}

type Module = {readonly [name: string]: unknown};

async function imported(path: string): Promise<Module> {
	const {mtimeMs} = await stat(path);
	// Modules of the older kind are kept by their paths, whatever follows those.
	delete createRequire(path).cache[path];
	return import(`${pathToFileURL(path).href}?v=${mtimeMs}`);
}

/** The functions that a module exports by name, or, as modules of the older kind do, in one object. */
function functionsOf(module: Module): Array<[string, LocalFunction]> {
	// What the older kind exports is there as a whole, too, under one name or two.
	const {default: object} = module;
	const named = without({...module}, 'default', 'module.exports');
	const all = {...(typeof object === 'object' ? object : {}), ...named};
	return Object.entries(all).filter((entry): entry is [string, LocalFunction] => isTool(entry[1]));
}

const isTool = (value: unknown): boolean => typeof value === 'function' && !/^class\b/.test(String(value));

function packOf(name: string, module: Module, source: string): Pack {
	const tools = new Map(functionsOf(module).map(([tool, run]) => [tool, localTool(tool, run, source)]));
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
				throw new Error(withoutPlaces(messageOf(error)));
			}
		},
	};
}

/** A message that tells nobody where on this machine things are. */
const withoutPlaces = (message: string): string =>
	message.replaceAll(process.cwd(), '.').replaceAll(homedir(), '~');
