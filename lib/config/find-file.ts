import {existsSync, realpathSync} from 'node:fs';
import {join, resolve} from 'node:path';
import type {EnvironmentVariables} from './expand-variables.js';
import {fileExtensions} from './parse-text.js';

type FindConfigOptions = {
	/** What `--config` named. */
	readonly named?: string | undefined;
	readonly environment: EnvironmentVariables;
	readonly cwd: string;
	readonly home: string;
};

type FoundConfigFile = {
	readonly file: string;
	/** Whether it was found in the working directory: it may be part of a cloned repository. */
	readonly needsTrust: boolean;
};

/** The names of files that are found, in order. */
export const configFileNames: readonly string[] = fileExtensions.map(ending => `bridge${ending}`);

/** The first file of a folder that has one of those names. */
export const findConfigFileIn = (folder: string): string | undefined =>
	configFileNames.map(name => join(folder, name)).find(file => existsSync(file));

/** The file to read: the one that is named, else the first that exists. Undefined where there is none. */
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

/** A folder without links in its path; as it is where it does not exist. */
export function resolveRealPath(folder: string): string {
	try {
		return realpathSync(folder);
	} catch {
		return resolve(folder);
	}
}
