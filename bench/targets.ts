import {join} from 'node:path';
import type {Options} from './options.js';
import {benchFolder, bridgeProgram, programPath} from './paths.js';
import {findPeer} from './peers.js';

/** What is put in front of the server, and how it is started. */
export interface Target {
	name: string;
	role: 'direct' | 'limit' | 'peer' | 'ours';
	version?: string;
	/** The peer's package is not in bench/node_modules: listed in the report, never measured. */
	absent?: true;
	/** It writes a traffic log, whose completeness is checked after every slice. */
	logs?: true;
	command(server: string[], folder: string): string[];
	/** Files written into the folder before the start, by name. */
	files?(server: string[]): Record<string, unknown>;
	/** What its client asks for, where that is not what the server speaks. */
	clientVersion?: string;
	/** Its home is the temporary folder, so that it neither reads nor leaves settings of the user. */
	ownHome?: true;
}

const node = process.execPath;
const LOG_NAME = 'traffic.ndjson';
export const logFile = (folder: string): string => join(folder, LOG_NAME);

const peer = (name: string, packageName: string, target: (program: string) => Partial<Target>): Target => {
	const found = findPeer(packageName);
	const base: Target = {name, role: 'peer', command: () => [], ...target(found?.program ?? '')};
	return found === undefined ? {...base, absent: true} : {...base, version: found.version};
};

const sdkProxy = (): Target =>
	peer('sdk-proxy', '@modelcontextprotocol/sdk', () => ({
		command: server => [node, programPath('sdk-proxy'), benchFolder, '--', ...server],
	}));

// mcpmon and reloaderoo wrap a server's command line; both command forms are from their own documentation.
const mcpmon = (): Target =>
	peer('mcpmon', 'mcpmon', program => ({command: server => [node, program, ...server]}));
const reloaderoo = (): Target =>
	peer('reloaderoo', 'reloaderoo', program => ({
		command: server => [node, program, 'proxy', '--', ...server],
	}));

// mcporter has its servers in a file and serves all of them, behind a daemon of its own.
const mcporter = (): Target =>
	peer('mcporter', 'mcporter', program => ({
		ownHome: true,
		files: ([command, ...args]) => ({
			'mcporter.json': {mcpServers: {bench: {command, args, lifecycle: 'keep-alive'}}, imports: []},
		}),
		command: (_server, folder) => [
			node,
			program,
			'--config',
			join(folder, 'mcporter.json'),
			'serve',
			'--stdio',
		],
	}));

/** Every target in the order of the report; `--only` leaves out the rest but never direct. */
export const chooseTargets = (options: Options): Target[] => {
	const bridge = options.bridge ?? [node, bridgeProgram];
	const all: Target[] = [
		{name: 'direct', role: 'direct', command: server => server},
		{name: 'pipe', role: 'limit', command: server => [node, programPath('pipe'), '--', ...server]},
		sdkProxy(),
		mcpmon(),
		reloaderoo(),
		mcporter(),
		{name: 'bridge', role: 'ours', command: server => [...bridge, '--', ...server]},
		{
			name: 'bridge+versions',
			role: 'ours',
			clientVersion: '2025-06-18',
			command: server => [...bridge, '--', ...server],
		},
		{
			name: 'bridge+log',
			role: 'ours',
			logs: true,
			command: (server, folder) => [...bridge, '--log', logFile(folder), '--', ...server],
		},
	];
	const unknown = options.only?.filter(name => !all.some(target => target.name === name)) ?? [];
	if (unknown.length > 0) {
		throw new Error(`--only: no target ${unknown.join(', ')}; there are ${all.map(t => t.name).join(', ')}`);
	}
	return all.filter(target => target.role === 'direct' || (options.only?.includes(target.name) ?? true));
};
