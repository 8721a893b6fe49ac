import {mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import type {ExecutionContext} from 'ava';
import {
	type LoadedServeConfig,
	loadServeConfig,
	type ServeFlags,
} from '../../../lib/serve/config/load-serve-config.js';
import {tempFolder} from '../../helpers/temp-folder.js';

/** A temporary home folder and repository. */
export type ConfigFixture = {
	readonly home: string;
	readonly repo: string;
	/** Writes the user's file. Returns its path. */
	writeUserFile(text: string): string;
	/** Writes `.atm.toml` in a folder of the repository. Returns its path. */
	writeRepoFile(text: string, folder?: string): string;
	load(flags?: ServeFlags, env?: NodeJS.ProcessEnv, cwd?: string): Promise<LoadedServeConfig>;
};

export function createFixture(t: ExecutionContext): ConfigFixture {
	const root = tempFolder(t);
	const [home, repo] = [join(root, 'home'), join(root, 'repo')];
	mkdirSync(home);
	mkdirSync(join(repo, '.git'), {recursive: true});
	return {
		home,
		repo,
		writeUserFile: text => write(join(home, '.config', 'atm', 'config.toml'), text),
		writeRepoFile: (text, folder = '') => write(join(repo, folder, '.atm.toml'), text),
		load: (flags = {}, env = {}, cwd = repo) => loadServeConfig({flags, env: {ATM_HOME: home, ...env}, cwd}),
	};
}

function write(path: string, text: string): string {
	mkdirSync(dirname(path), {recursive: true});
	writeFileSync(path, text);
	return path;
}
