import {createHash} from 'node:crypto';
import {homedir} from 'node:os';
import {basename, join} from 'node:path';

/** The folder that `.config/atm` and `.claude` are in: `ATM_HOME`, else the user's own. */
export function baseFolder(env: NodeJS.ProcessEnv): string {
	const configured = env.ATM_HOME?.trim();
	return configured ? configured : homedir();
}

/** The user's own configuration. */
export const userConfigPath = (base: string): string => join(base, '.config', 'atm', 'config.toml');

/** Where sessions leave what is common to all teams: `audit.jsonl`. */
export const auditFolder = (base: string): string => join(base, '.config', 'atm', 'codex-sessions');

/** Where a team's registry, locks and summaries are: two teams never share one. */
export const stateFolder = (base: string, team: string): string => join(auditFolder(base), team);

/** The same for sessions of a repository that has no team. Names of teams have no `@`. */
export function repositoryStateFolder(base: string, team: string, root: string): string {
	const name = basename(root)
		.replace(/[^A-Za-z0-9._-]/g, '-')
		.slice(0, MAX_NAME);
	const hash = createHash('sha256').update(root).digest('hex').slice(0, HASH_LENGTH);
	return join(auditFolder(base), `${team}@${name}-${hash}`);
}

/** How much of a repository's name and of the hash of its path are in the name of its folder. */
const MAX_NAME = 40;
const HASH_LENGTH = 12;

/** Claude Code's own folder, which teams are in: ATM's, where it is named, else the one Claude Code is told of, else the user's. */
export function claudeFolder(env: NodeJS.ProcessEnv): string {
	const configured = env.ATM_HOME?.trim() ? undefined : env.CLAUDE_CONFIG_DIR?.trim();
	return configured ? configured : join(baseFolder(env), '.claude');
}
