import {readdir, readFile, stat} from 'node:fs/promises';
import {homedir} from 'node:os';
import {basename, extname, join} from 'node:path';
import {pathToFileURL} from 'node:url';
import type {Log} from '../log.js';
import {type LocalFunction, localTool} from './local-tool.js';
import {messageOf} from './program-error.js';
import type {Pack} from './types.js';

const endings = new Set(['.js', '.mjs', '.cjs']);
const MAX_PACKS = 200;

/**
 * The packs in a folder: a module is a pack, and each function that it exports a tool. What a comment or an
 * `inputSchema` says of a function is its signature. A module that cannot be loaded is left out with a warning. Loaded
 * again, a module that has changed since is read anew.
 */
export async function loadLocalPacks(folder: string, log: Log): Promise<Pack[]> {
	let names: string[];
	try {
		names = (await readdir(folder)).filter(name => endings.has(extname(name))).sort();
	} catch (error) {
		log.warn('run.packs.unreadable', `The folder of local packs cannot be read: ${messageOf(error)}`);
		return [];
	}
	if (names.length > MAX_PACKS) {
		log.warn('run.packs.many', `Of the ${names.length} local packs only the first ${MAX_PACKS} are loaded.`);
	}
	const packs = await Promise.all(names.slice(0, MAX_PACKS).map(name => load(join(folder, name), log)));
	return packs.filter(pack => pack !== undefined);
}

async function load(path: string, log: Log): Promise<Pack | undefined> {
	const name = basename(path, extname(path));
	try {
		const {mtimeMs} = await stat(path);
		const module: {readonly [name: string]: unknown} = await import(
			`${pathToFileURL(path).href}?v=${mtimeMs}`
		);
		return packOf(name, module, await readFile(path, 'utf8'));
	} catch (error) {
		log.warn('run.pack.broken', `The local pack ${name} cannot be loaded: ${messageOf(error)}`);
		return;
	}
}

function packOf(name: string, module: {readonly [name: string]: unknown}, source: string): Pack {
	const functions = Object.entries(module).filter(
		(entry): entry is [string, LocalFunction] => typeof entry[1] === 'function' && entry[0] !== 'default',
	);
	const tools = new Map(functions.map(([tool, run]) => [tool, localTool(tool, run, source)]));
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
