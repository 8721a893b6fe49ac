import {mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import type {ExecutionContext} from 'ava';
import {
	type LoadedServeConfig,
	loadServeConfig,
	type ServeFlags,
} from '../../../lib/serve/config/load-serve-config.js';
import {tempFolder} from '../../helpers/temp-folder.js';

/** A home and a repository of its own. */
export type Place = {
	readonly home: string;
	readonly repo: string;
	/** Writes a file, and returns its path. */
	own(text: string): string;
	ofRepo(text: string, below?: string): string;
	load(flags?: ServeFlags, env?: NodeJS.ProcessEnv, cwd?: string): Promise<LoadedServeConfig>;
};

export function newPlace(t: ExecutionContext): Place {
	const folder = tempFolder(t);
	const [home, repo] = [join(folder, 'home'), join(folder, 'repo')];
	mkdirSync(home);
	mkdirSync(join(repo, '.git'), {recursive: true});
	return {
		home,
		repo,
		own: text => write(join(home, '.config', 'atm', 'config.toml'), text),
		ofRepo: (text, below = '') => write(join(repo, below, '.atm.toml'), text),
		load: (flags = {}, env = {}, cwd = repo) => loadServeConfig({flags, env: {ATM_HOME: home, ...env}, cwd}),
	};
}

function write(path: string, text: string): string {
	mkdirSync(dirname(path), {recursive: true});
	writeFileSync(path, text);
	return path;
}
