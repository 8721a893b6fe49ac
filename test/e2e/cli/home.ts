import {mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import process from 'node:process';
import type {ExecutionContext} from 'ava';
import {sessionEntry} from '../../../fixtures/sessions/entry.js';
import type {SessionEntry} from '../../../lib/serve/sessions/types.js';
import {runBridge} from '../../helpers/bridge.js';
import {tempFolder} from '../../helpers/temp-folder.js';

/** A user with a home folder and a working directory. */
export type Home = {
	readonly home: string;
	readonly cwd: string;
	readonly env: NodeJS.ProcessEnv;
	/** Writes a file into the home folder. */
	put(path: string, text: string, mode?: number): string;
	/** Writes the registry of a team. */
	sessions(team: string, ...entries: Array<Partial<SessionEntry>>): string;
	/** Runs `bridge ARGS` in the working directory. */
	run(...args: string[]): Promise<{code: number | null; out: string; stderr: string}>;
};

export function newHome(t: ExecutionContext, extra: NodeJS.ProcessEnv = {}): Home {
	const folder = tempFolder(t);
	const [home, cwd] = [join(folder, 'home'), join(folder, 'work')];
	for (const each of [home, cwd]) mkdirSync(each);
	const {PATH} = process.env;
	const env = {PATH, HOME: home, ...extra};
	const put = (path: string, text: string, mode = 0o600): string => {
		const file = join(home, path);
		mkdirSync(dirname(file), {recursive: true, mode: 0o700});
		writeFileSync(file, text, {mode});
		return file;
	};
	return {
		home,
		cwd,
		env,
		put,
		sessions: (team, ...entries) =>
			put(
				`.config/atm/codex-sessions/${team}/registry.json`,
				JSON.stringify({version: 1, sessions: entries.map(entry => sessionEntry({team, cwd, ...entry}))}),
			),
		async run(...args) {
			const {code, stdout, stderr} = await runBridge(args, '', {cwd, env});
			return {code, out: stdout.map(line => `${line}\n`).join(''), stderr};
		},
	};
}
