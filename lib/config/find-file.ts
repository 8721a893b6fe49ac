import {existsSync, realpathSync} from 'node:fs';
import {join, resolve} from 'node:path';
import type {EnvironmentVariables} from './expand-variables.js';
import {fileExtensions} from './parse-text.js';

type FindConfigOptions = {
	/** The path in `--config`. */
	readonly named?: string | undefined;
	readonly environment: EnvironmentVariables;
	readonly cwd: string;
	readonly home: string;
};

type FoundConfigFile = {
	readonly file: string;
	/** Whether the file was found in the working directory, where it may be part of a cloned repository. */
	readonly needsTrust: boolean;
};

/** The names to search for, in order of precedence. */
export const configFileNames: readonly string[] = fileExtensions.map(ending => `bridge${ending}`);

/** Returns the first configuration file that exists in a folder. */
export const findConfigFileIn = (folder: string): string | undefined =>
	configFileNames.map(name => join(folder, name)).find(file => existsSync(file));

/**
 * Returns the file that was requested, else the first one found in the working directory or the user's
 * folder.
 */
export function findConfigFile({
	named,
	environment,
	cwd,
	home,
}: FindConfigOptions): FoundConfigFile | undefined {
	const requested = named ?? environment.BRIDGE_CONFIG;
	if (requested) return {file: resolve(cwd, requested), needsTrust: false};
	const userFolder = join(home, '.config', 'bridge');
	const localFile = findConfigFileIn(cwd);
	if (localFile !== undefined)
		return {file: localFile, needsTrust: resolveRealPath(cwd) !== resolveRealPath(userFolder)};
	const file = findConfigFileIn(userFolder);
	return file === undefined ? undefined : {file, needsTrust: false};
}

/** Resolves the symbolic links in a path. Returns the absolute path if it does not exist. */
export function resolveRealPath(folder: string): string {
	try {
		return realpathSync(folder);
	} catch {
		return resolve(folder);
	}
}
