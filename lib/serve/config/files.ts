import {existsSync} from 'node:fs';
import {realpath} from 'node:fs/promises';
import {dirname, join, resolve, sep} from 'node:path';
import {parseConfigText} from '../../config/parse-text.js';
import {readConfigText} from '../../config/read-file.js';
import {BridgeError} from '../../core/errors.js';
import {userConfigPath} from '../paths.js';
import {type ConfigLayer, parseLayer} from './layer.js';

/** A file that was read: what it says, and what there is to say about it. */
export type ServeConfigFile = {
	readonly path: string;
	readonly layer: ConfigLayer;
	readonly warnings: readonly string[];
};

/** The repository's own file, from here upward, but not beyond the repository; undefined where there is none. */
export function findRepositoryFile(cwd: string): {path: string; root: string} | undefined {
	for (let folder = resolve(cwd); ; folder = dirname(folder)) {
		const path = join(folder, '.atm.toml');
		const isRoot = existsSync(join(folder, '.git'));
		if (existsSync(path)) return {path, root: repositoryRootOf(folder)};
		if (isRoot || folder === dirname(folder)) return;
	}
}

/** The repository that a folder is in, or the folder itself. */
function repositoryRootOf(folder: string): string {
	for (let root = folder; ; root = dirname(root)) {
		if (existsSync(join(root, '.git'))) return root;
		if (root === dirname(root)) return folder;
	}
}

/** A file that somebody has named: anything that is wrong with it is an error. */
export async function readNamedFile(path: string): Promise<ServeConfigFile> {
	const {layer, faults} = await parseFile(path);
	const issues = faults.filter(({isHarmless}) => !isHarmless);
	if (issues.length === 0)
		return {path, layer, warnings: faults.map(({key, text}) => `${path}: ${key}: ${text}`)};
	const lines = issues.map(({key, text}) => `${path}: ${key}: ${text}`);
	throw new BridgeError(
		'ERR_CONFIG_INVALID',
		lines.length === 1 ? lines.join() : [`${path} has ${lines.length} mistakes:`, ...lines, ''].join('\n'),
		'docs/atm-config.md lists what may stand there.',
		{file: path},
	);
}

/** A file that was found: what cannot be understood of it is left out, and told. */
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

/** The user's own file. */
export const readUserFile = (base: string): Promise<ServeConfigFile | undefined> =>
	readFoundFile(userConfigPath(base));

async function parseFile(path: string): Promise<ReturnType<typeof parseLayer>> {
	const {text} = await readConfigText(path, path);
	const {value, issues} = parseConfigText(text, '.toml');
	const [issue] = issues;
	if (!issue) return parseLayer(value, path);
	const location = [path, issue.line, issue.column].filter(part => part !== undefined).join(':');
	throw new BridgeError('ERR_CONFIG_INVALID', `${location}: ${issue.text}`, 'Mend it first.', {file: path});
}

/** Whether a path is a folder or in it, links followed as far as there is something. */
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
