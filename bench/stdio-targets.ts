import {join} from 'node:path';
import type {Options} from './options.js';
import {benchFolder, bridgeProgram, programPath} from './paths.js';
import {node, peer, type Target} from './target.js';

const LOG_NAME = 'traffic.ndjson';
export const logFile = (folder: string): string => join(folder, LOG_NAME);

const sdkProxy = (): Target =>
	peer('sdk-proxy', '@modelcontextprotocol/sdk', () => ({
		command: ({server}) => [node, programPath('sdk-proxy'), benchFolder, '--', ...server],
	}));

// mcpmon and reloaderoo wrap a server's command line. The command forms are from their documentation.
const mcpmon = (): Target =>
	peer('mcpmon', 'mcpmon', program => ({command: ({server}) => [node, program, ...server]}));
const reloaderoo = (): Target =>
	peer('reloaderoo', 'reloaderoo', program => ({
		command: ({server}) => [node, program, 'proxy', '--', ...server],
	}));

// mcporter reads its servers from a file and runs all of them behind its own daemon.
const mcporter = (): Target =>
	peer('mcporter', 'mcporter', program => ({
		ownHome: true,
		files: ({server: [command, ...args]}) => ({
			'mcporter.json': {mcpServers: {bench: {command, args, lifecycle: 'keep-alive'}}, imports: []},
		}),
		command: ({folder}) => [node, program, '--config', join(folder, 'mcporter.json'), 'serve', '--stdio'],
	}));

/** stdio in front of stdio, in the order of the report. */
export const stdioTargets = (options: Options): Target[] => {
	const bridge = options.bridge ?? [node, bridgeProgram];
	return [
		{name: 'direct', role: 'direct', command: ({server}) => server},
		{name: 'pipe', role: 'limit', command: ({server}) => [node, programPath('pipe'), '--', ...server]},
		sdkProxy(),
		mcpmon(),
		reloaderoo(),
		mcporter(),
		{name: 'bridge', role: 'ours', command: ({server}) => [...bridge, '--', ...server]},
		{
			name: 'bridge+versions',
			role: 'ours',
			clientVersion: '2025-06-18',
			command: ({server}) => [...bridge, '--', ...server],
		},
		{
			name: 'bridge+log',
			role: 'ours',
			logs: true,
			command: ({server, folder}) => [...bridge, '--log', logFile(folder), '--', ...server],
		},
	];
};
