import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {freePort} from '../helpers/free-port.js';
import type {Service} from './gateway.js';
import {type Owner, startListening} from './listening.js';
import {type Command, peerUrl, serverFile} from './peers.js';

/** A real server with its number of tools and the newest version that it supports. */
export interface Member {
	readonly name: string;
	readonly file: string;
	readonly args?: readonly string[];
	readonly env?: Readonly<Record<string, string>>;
	readonly tools: number;
	readonly version: string;
}

/** The eight servers that are started as children. */
export function membersIn(folder: string): readonly Member[] {
	return [
		{name: 'everything 2025.5.12', file: 'everything-2025-03-26', tools: 8, version: '2025-03-26'},
		{name: 'everything 2025.7.1', file: 'everything-2025-06-18', tools: 8, version: '2025-06-18'},
		{
			name: 'filesystem 2026.8.31',
			file: '@modelcontextprotocol/server-filesystem',
			args: [folder],
			tools: 14,
			version: '2025-11-25',
		},
		{
			name: 'sequential-thinking 0.6.2',
			file: '@modelcontextprotocol/server-sequential-thinking',
			tools: 1,
			version: '2024-11-05',
		},
		{
			name: 'gitlab 2025.4.25',
			file: '@modelcontextprotocol/server-gitlab',
			env: {GITLAB_PERSONAL_ACCESS_TOKEN: 'none'},
			tools: 9,
			version: '2024-11-05',
		},
		{
			name: 'sqlite 0.8.0',
			file: 'mcp-server-sqlite-npx',
			args: [join(folder, 'data.db')],
			tools: 5,
			version: '2025-11-25',
		},
		{
			name: 'excel 0.12.0',
			file: '@negokaz/excel-mcp-server/dist/launcher.js',
			tools: 6,
			version: '2025-03-26',
		},
		{name: 'context7 4.1.1', file: '@upstash/context7-mcp', tools: 2, version: '2025-11-25'},
	];
}

export function commandOf(member: Member, folder: string): Command {
	const file = member.file.endsWith('.js') ? member.file : `${member.file}/dist/index.js`;
	const args = [fileURLToPath(peerUrl(file)), ...(member.args ?? [])];
	// The variable marks the processes, so that survivors can be found.
	return {command: process.execPath, args, env: {...member.env, BRIDGE_TEST_FOLDER: folder}};
}

/** A server and how the gateway reaches it. */
export interface Reachable {
	readonly name: string;
	readonly tools: number;
	readonly version: string;
	readonly service: Service;
}

async function startMember(t: Owner, file: string, args: readonly string[], folder: string) {
	const port = await freePort();
	const command = {
		command: process.execPath,
		args: [fileURLToPath(peerUrl(file)), ...args.map(arg => arg.replace('{PORT}', String(port)))],
		env: {PORT: String(port), BRIDGE_TEST_FOLDER: folder, MEMORY_FILE_PATH: join(folder, 'memory.jsonl')},
	};
	await startListening(t, command, new RegExp(`\\b(${port})\\b`));
	return port;
}

/** Starts the three network servers: streamable HTTP, HTTP+SSE and WebSocket. */
async function startRemoteMembers(t: Owner, folder: string): Promise<Reachable[]> {
	const everything = '@modelcontextprotocol/server-everything/dist/index.js';
	const memory = `${process.execPath} ${serverFile('memory')}`;
	const overWebSocket = ['--stdio', memory, '--outputTransport', 'ws', '--port', '{PORT}'];
	const [http, sse, ws] = await Promise.all([
		startMember(t, everything, ['streamableHttp'], folder),
		startMember(t, 'everything-2024-11-05/dist/sse.js', [], folder),
		startMember(t, 'supergateway/dist/index.js', overWebSocket, folder),
	]);
	return [
		{
			name: 'everything 2026.8.31',
			tools: 13,
			version: '2025-11-25',
			service: {url: `http://127.0.0.1:${http}/mcp`, transport: 'http'},
		},
		{
			name: 'everything 0.6.2',
			tools: 5,
			version: '2024-11-05',
			service: {url: `http://127.0.0.1:${sse}/sse`, transport: 'sse'},
		},
		{
			name: 'memory 2026.8.31',
			tools: 9,
			version: '2025-11-25',
			service: {url: `ws://127.0.0.1:${ws}/message`, transport: 'ws'},
		},
	];
}

/** Returns all eleven. Those behind a network are running. */
export async function startMembers(t: Owner, folder: string): Promise<Reachable[]> {
	const children = membersIn(folder).map(member => ({
		name: member.name,
		tools: member.tools,
		version: member.version,
		service: {...commandOf(member, folder)},
	}));
	return [...children, ...(await startRemoteMembers(t, folder))];
}
