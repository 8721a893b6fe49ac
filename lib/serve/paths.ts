import {createHash} from 'node:crypto';
import {homedir} from 'node:os';
import {basename, join} from 'node:path';

/** The parent folder of `.config/atm` and `.claude`: `ATM_HOME` if set, otherwise the home folder. */
export function baseFolder(env: NodeJS.ProcessEnv): string {
	const configured = env.ATM_HOME?.trim();
	return configured ? configured : homedir();
}

export const userConfigPath = (base: string): string => join(base, '.config', 'atm', 'config.toml');

/** The folder of files that all teams share, such as `audit.jsonl`. */
export const auditFolder = (base: string): string => join(base, '.config', 'atm', 'codex-sessions');

/** The folder of a team's registry, locks and summaries. */
export const stateFolder = (base: string, team: string): string => join(auditFolder(base), team);

/** The state folder of a repository without a team. Its `@` avoids collisions with names of teams. */
export function repositoryStateFolder(base: string, team: string, root: string): string {
	const name = basename(root)
		.replace(/[^A-Za-z0-9._-]/g, '-')
		.slice(0, MAX_NAME);
	const hash = createHash('sha256').update(root).digest('hex').slice(0, HASH_LENGTH);
	return join(auditFolder(base), `${team}@${name}-${hash}`);
}

/** Limits, in characters, of the repository's name and of its path's hash in the folder's name. */
const MAX_NAME = 40;
const HASH_LENGTH = 12;

/** Claude Code's configuration folder, which contains the teams. `ATM_HOME` overrides `CLAUDE_CONFIG_DIR`. */
export function claudeFolder(env: NodeJS.ProcessEnv): string {
	const configured = env.ATM_HOME?.trim() ? undefined : env.CLAUDE_CONFIG_DIR?.trim();
	return configured ? configured : join(baseFolder(env), '.claude');
}
