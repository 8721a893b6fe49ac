import {findPeer} from './peers.js';

/** What a target is started with. */
export interface Place {
	/** The command of the server, for a target that starts it. */
	server: string[];
	/** Where the server listens, for a target that is told so. */
	serverUrl: string;
	/** Where the target is to listen, if it does. */
	port: number;
	folder: string;
}

/** What is put in front of the server, and how it is started. */
export interface Target {
	name: string;
	role: 'direct' | 'limit' | 'peer' | 'ours';
	version?: string;
	/** The peer's package is not in bench/node_modules: listed in the report, never measured. */
	absent?: true;
	/** It writes a traffic log, whose completeness is checked after every slice. */
	logs?: true;
	command(place: Place): string[];
	/** Where it serves, if it serves HTTP. */
	path?: string;
	/** The server behind it is an HTTP server that runs already. */
	isInFrontOfHttp?: true;
	/** Files written into the folder before the start, by name. */
	files?(place: Place): Record<string, unknown>;
	/** What its client asks for, where that is not what the server speaks. */
	clientVersion?: string;
	/** Its home is the temporary folder, so that it neither reads nor leaves settings of the user. */
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
