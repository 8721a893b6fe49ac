import {findPeer} from './peers.js';

/** The parameters of a target's start. */
export interface Place {
	/** The command of the server, for targets that start it. */
	server: string[];
	/** The URL of the server, for targets that connect to it. */
	serverUrl: string;
	/** The port for the target, if it listens. */
	port: number;
	folder: string;
}

/** A proxy in front of the server, and its command. */
export interface Target {
	name: string;
	role: 'direct' | 'limit' | 'peer' | 'ours';
	version?: string;
	/** Whether the peer's package is missing in bench/node_modules: listed in the report, not measured. */
	absent?: true;
	/** Whether it writes a traffic log, which is checked for completeness after each slice. */
	logs?: true;
	command(place: Place): string[];
	/** The path of its endpoint, if it serves HTTP. */
	path?: string;
	/** Whether it connects to a running HTTP server. */
	isInFrontOfHttp?: true;
	/** Files written into the folder before the start, by name. */
	files?(place: Place): Record<string, unknown>;
	/** The protocol version of its client, if it differs from the server's. */
	clientVersion?: string;
	/**
	 * Whether its home is the temporary folder, so that it neither reads nor leaves settings of the user.
	 */
	ownHome?: true;
}

export const node = process.execPath;

/** A target from bench/node_modules. */
export const peer = (
	name: string,
	packageName: string,
	target: (program: string) => Partial<Target>,
): Target => {
	const found = findPeer(packageName);
	const base: Target = {name, role: 'peer', command: () => [], ...target(found?.program ?? '')};
	return found === undefined ? {...base, absent: true} : {...base, version: found.version};
};
