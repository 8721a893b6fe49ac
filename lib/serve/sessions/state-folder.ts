import type {ServeConfig} from '../config/types.js';
import {findTeam} from '../mail/roster.js';
import {repositoryStateFolder, stateFolder} from '../paths.js';
import {readRepoContext} from './session-context.js';

/** Where the registry, locks and summaries of a `bridge serve` are. */
type SessionStateLocation = {
	readonly folder: string;
	/** The repository that they are for, if they are not for a team. */
	readonly repoRoot: string | undefined;
};

/**
 * Finds the state of sessions that run in a folder. It belongs to the team, since an identity has one inbox there. Without a
 * team it belongs to the repository, so that two repositories can use the same identity.
 */
export async function locateSessionState(
	{base, claude, team, isTeamNamed}: ServeConfig,
	cwd: string,
): Promise<SessionStateLocation> {
	// A roster that cannot be read is that of a team.
	const isTeam = isTeamNamed || (await findTeam(claude, team).catch(() => true)) !== undefined;
	if (isTeam) return {folder: stateFolder(base, team), repoRoot: undefined};
	const repoRoot = readRepoContext(cwd).repo_root ?? cwd;
	return {folder: repositoryStateFolder(base, team, repoRoot), repoRoot};
}
