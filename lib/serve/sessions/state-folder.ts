import type {ServeConfig} from '../config/types.js';
import {findTeam} from '../mail/roster.js';
import {repositoryStateFolder, stateFolder} from '../paths.js';
import {readRepoContext} from './session-context.js';

type SessionStateLocation = {
	readonly folder: string;
	/** The repository that owns the state; undefined if a team does. */
	readonly repoRoot: string | undefined;
};

/**
 * Locates the registry, locks and summaries for a working directory. They belong to the team, since an
 * identity has one inbox per team. Without a team they belong to the repository, so that two repositories can
 * use the same identity.
 */
export async function locateSessionState(
	{base, claude, team, isTeamNamed}: ServeConfig,
	cwd: string,
): Promise<SessionStateLocation> {
	// An unreadable roster still means that the team exists.
	const isTeam = isTeamNamed || (await findTeam(claude, team).catch(() => true)) !== undefined;
	if (isTeam) return {folder: stateFolder(base, team), repoRoot: undefined};
	const repoRoot = readRepoContext(cwd).repo_root ?? cwd;
	return {folder: repositoryStateFolder(base, team, repoRoot), repoRoot};
}
