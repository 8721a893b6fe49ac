import {existsSync} from 'node:fs';
import {realpath} from 'node:fs/promises';
import {dirname, join, resolve, sep} from 'node:path';
import {parseConfigText} from '../../config/parse-text.js';
import {readConfigText} from '../../config/read-file.js';
import {BridgeError} from '../../core/errors.js';
import {userConfigPath} from '../paths.js';
import {type ConfigLayer, parseLayer} from './layer.js';

export type ServeConfigFile = {
	readonly path: string;
	readonly layer: ConfigLayer;
	readonly warnings: readonly string[];
};

/** Finds `.atm.toml` in a folder or its parents, up to the root of the repository. */
export function findRepositoryFile(cwd: string): {path: string; root: string} | undefined {
	for (let folder = resolve(cwd); ; folder = dirname(folder)) {
		const path = join(folder, '.atm.toml');
		const isRoot = existsSync(join(folder, '.git'));
		if (existsSync(path)) return {path, root: repositoryRootOf(folder)};
		if (isRoot || folder === dirname(folder)) return;
	}
}

/** The root of the repository that contains a folder, or the folder itself if there is none. */
function repositoryRootOf(folder: string): string {
	for (let root = folder; ; root = dirname(root)) {
		if (existsSync(join(root, '.git'))) return root;
		if (root === dirname(root)) return folder;
	}
}

/** Reads a file from the command line or environment. Rejects if the file has mistakes. */
export async function readNamedFile(path: string): Promise<ServeConfigFile> {
	const {layer, faults} = await parseFile(path);
	const issues = faults.filter(({isHarmless}) => !isHarmless);
	if (issues.length === 0)
		return {path, layer, warnings: faults.map(({key, text}) => `${path}: ${key}: ${text}`)};
	const lines = issues.map(({key, text}) => `${path}: ${key}: ${text}`);
	throw new BridgeError(
		'ERR_CONFIG_INVALID',
		lines.length === 1 ? lines.join() : [`${path} has ${lines.length} mistakes:`, ...lines, ''].join('\n'),
		'docs/atm-config.md lists the valid keys and values.',
		{file: path},
	);
}

/** Reads a discovered file. Ignores invalid content with a warning. */
export async function readFoundFile(path: string): Promise<ServeConfigFile | undefined> {
	if (!existsSync(path)) return;
	try {
		const {layer, faults} = await parseFile(path);
		const warnings = faults.map(
			({key, text, isKept}) => `${path}: ${key}: ${text}${isKept ? '' : ' It is ignored.'}`,
		);
		return {path, layer, warnings};
	} catch (error) {
		if (!(error instanceof BridgeError)) throw error;
		return {path, layer: new Map(), warnings: [`${error.message} It is ignored.`]};
	}
}

export const readUserFile = (base: string): Promise<ServeConfigFile | undefined> =>
	readFoundFile(userConfigPath(base));

async function parseFile(path: string): Promise<ReturnType<typeof parseLayer>> {
	const {text} = await readConfigText(path, path);
	const {value, issues} = parseConfigText(text, '.toml');
	const [issue] = issues;
	if (!issue) return parseLayer(value, path);
	const location = [path, issue.line, issue.column].filter(part => part !== undefined).join(':');
	throw new BridgeError('ERR_CONFIG_INVALID', `${location}: ${issue.text}`, 'Correct the file first.', {
		file: path,
	});
}

/** Whether a path is a folder or inside it. Resolves links of the part of each path that exists. */
export async function isWithin(path: string, folder: string): Promise<boolean> {
	const [real, root] = await Promise.all([resolveExisting(path), resolveExisting(folder)]);
	return real === root || real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}

async function resolveExisting(path: string): Promise<string> {
	try {
		return await realpath(path);
	} catch {
		const parent = dirname(path);
		return parent === path ? path : join(await resolveExisting(parent), path.slice(parent.length));
	}
}
