import {isAbsolute, join} from 'node:path';

/** The folder for the state that bridge keeps for a user: `$XDG_STATE_HOME/bridge`, else `~/.local/state/bridge`. */
export function userStateFolder(
	environment: {readonly XDG_STATE_HOME?: string | undefined},
	home: string,
): string {
	const configured = environment.XDG_STATE_HOME;
	// The XDG standard ignores relative paths. One could also be inside a cloned repository.
	return join(configured && isAbsolute(configured) ? configured : join(home, '.local', 'state'), 'bridge');
}
