import {existsSync, realpathSync} from 'node:fs';
import {join, resolve} from 'node:path';
import type {Variables} from './expand.js';
import {endings} from './parse.js';

export type Whereabouts = {
	/** What `--config` named. */
	readonly named?: string | undefined;
	readonly environment: Variables;
	readonly cwd: string;
	readonly home: string;
};

export type FoundFile = {
	readonly file: string;
	/** Whether it was found in the working directory: it may be part of a cloned repository. */
	readonly needsTrust: boolean;
};

/** The names of files that are found, in order. */
export const foundNames: readonly string[] = endings.map(ending => `bridge${ending}`);

/** The first file of a folder that has one of those names. */
export const fileIn = (folder: string): string | undefined =>
	foundNames.map(name => join(folder, name)).find(file => existsSync(file));

/** The file to read: the one that is named, else the first that exists. Undefined where there is none. */
export function findFile({named, environment, cwd, home}: Whereabouts): FoundFile | undefined {
	const wanted = named ?? environment.BRIDGE_CONFIG;
	if (wanted) return {file: resolve(cwd, wanted), needsTrust: false};
	const own = join(home, '.config', 'bridge');
	const here = fileIn(cwd);
	if (here !== undefined) return {file: here, needsTrust: realPath(cwd) !== realPath(own)};
	const file = fileIn(own);
	return file === undefined ? undefined : {file, needsTrust: false};
}

/** A folder without links in its path; as it is where it does not exist. */
export function realPath(folder: string): string {
	try {
		return realpathSync(folder);
	} catch {
		return resolve(folder);
	}
}
