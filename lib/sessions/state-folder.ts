import {repositoryFolder, stateFolder} from '../atm/paths.js';
import type {AtmConfig} from '../atm/types.js';
import {findTeam} from '../mail/roster.js';
import {repoContext} from './context.js';

/** Where the registry, locks and summaries of a `bridge serve` are. */
export type State = {
	readonly folder: string;
	/** The repository that they are for, if they are not for a team. */
	readonly root: string | undefined;
};

/**
 * Finds the state of sessions that run in a folder. It belongs to the team, since an identity has one inbox there. Without a
 * team it belongs to the repository, so that two repositories can use the same identity.
 */
export async function stateFor({base, claude, team, isTeamNamed}: AtmConfig, cwd: string): Promise<State> {
	// A roster that cannot be read is that of a team.
	const isTeam = isTeamNamed || (await findTeam(claude, team).catch(() => true)) !== undefined;
	if (isTeam) return {folder: stateFolder(base, team), root: undefined};
	const root = repoContext(cwd).repo_root ?? cwd;
	return {folder: repositoryFolder(base, team, root), root};
}
