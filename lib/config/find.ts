import {existsSync} from 'node:fs';
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

/** The file to read: the one that is named, else the first that there is. Undefined where there is none. */
export function findFile({named, environment, cwd, home}: Whereabouts): string | undefined {
	const wanted = named ?? environment.BRIDGE_CONFIG;
	if (wanted) return resolve(cwd, wanted);
	const folders = [cwd, join(home, '.config', 'bridge')];
	const candidates = folders.flatMap(folder => endings.map(ending => join(folder, `bridge${ending}`)));
	return candidates.find(file => existsSync(file));
}
