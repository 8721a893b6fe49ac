import {isAbsolute, join} from 'node:path';

/** Returns the folder for bridge's state of a user: `$XDG_STATE_HOME/bridge`, or `~/.local/state/bridge`. */
export function userStateFolder(
	environment: {readonly XDG_STATE_HOME?: string | undefined},
	home: string,
): string {
	const configured = environment.XDG_STATE_HOME;
	// The XDG standard ignores relative paths. A relative path could also be inside a cloned repository.
	return join(configured && isAbsolute(configured) ? configured : join(home, '.local', 'state'), 'bridge');
}
