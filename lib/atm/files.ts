import {existsSync} from 'node:fs';
import {realpath} from 'node:fs/promises';
import {dirname, join, resolve, sep} from 'node:path';
import {parseText} from '../config/parse.js';
import {readText} from '../config/read.js';
import {BridgeError} from '../errors.js';
import {type Layer, layerOf} from './layer.js';
import {globalConfig} from './paths.js';

/** A file that was read: what it says, and what there is to say about it. */
export type ConfigFile = {
	readonly path: string;
	readonly layer: Layer;
	readonly warnings: readonly string[];
};

/** The repository's own file, from here upward, but not beyond the repository; undefined where there is none. */
export function repositoryFile(cwd: string): {path: string; root: string} | undefined {
	for (let folder = resolve(cwd); ; folder = dirname(folder)) {
		const path = join(folder, '.atm.toml');
		const isRoot = existsSync(join(folder, '.git'));
		if (existsSync(path)) return {path, root: rootOf(folder)};
		if (isRoot || folder === dirname(folder)) return;
	}
}

/** The repository that a folder is in, or the folder itself. */
function rootOf(folder: string): string {
	for (let root = folder; ; root = dirname(root)) {
		if (existsSync(join(root, '.git'))) return root;
		if (root === dirname(root)) return folder;
	}
}

/** A file that somebody has named: anything that is wrong with it is an error. */
export async function namedFile(path: string): Promise<ConfigFile> {
	const {layer, faults} = await read(path);
	const mistakes = faults.filter(({isHarmless}) => !isHarmless);
	if (mistakes.length === 0)
		return {path, layer, warnings: faults.map(({key, text}) => `${path}: ${key}: ${text}`)};
	const told = mistakes.map(({key, text}) => `${path}: ${key}: ${text}`);
	throw new BridgeError(
		'ERR_CONFIG_INVALID',
		told.length === 1 ? told.join() : [`${path} has ${told.length} mistakes:`, ...told, ''].join('\n'),
		'docs/atm-config.md lists what may stand there.',
		{file: path},
	);
}

/** A file that was found: what cannot be understood of it is left out, and told. */
export async function foundFile(path: string): Promise<ConfigFile | undefined> {
	if (!existsSync(path)) return;
	try {
		const {layer, faults} = await read(path);
		const warnings = faults.map(
			({key, text, isKept}) => `${path}: ${key}: ${text}${isKept ? '' : ' It is ignored.'}`,
		);
		return {path, layer, warnings};
	} catch (error) {
		if (!(error instanceof BridgeError)) throw error;
		return {path, layer: new Map(), warnings: [`${error.message} It is ignored.`]};
	}
}

/** The user's own file. */
export const globalFile = (base: string): Promise<ConfigFile | undefined> => foundFile(globalConfig(base));

async function read(path: string): Promise<ReturnType<typeof layerOf>> {
	const {text} = await readText(path, path);
	const {value, mistakes} = parseText(text, '.toml');
	const [mistake] = mistakes;
	if (!mistake) return layerOf(value, path);
	const place = [path, mistake.line, mistake.column].filter(part => part !== undefined).join(':');
	throw new BridgeError('ERR_CONFIG_INVALID', `${place}: ${mistake.text}`, 'Mend it first.', {file: path});
}

/** Whether a path is a folder or in it, links followed as far as there is something. */
export async function isWithin(path: string, folder: string): Promise<boolean> {
	const [real, root] = await Promise.all([realPath(path), realPath(folder)]);
	return real === root || real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}

async function realPath(path: string): Promise<string> {
	try {
		return await realpath(path);
	} catch {
		const parent = dirname(path);
		return parent === path ? path : join(await realPath(parent), path.slice(parent.length));
	}
}
