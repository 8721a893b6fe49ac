import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import type {ExecutionContext} from 'ava';
import {initialize, initialized, JsonClient, type JsonEnding, listTools, toolNames} from './json-client.js';
import {type Command, peerUrl, temporaryFolder, throughBridge} from './peers.js';

/** A real server: how many tools it has, and the newest version it speaks. */
interface Member {
	readonly name: string;
	readonly file: string;
	readonly args?: readonly string[];
	readonly env?: Readonly<Record<string, string>>;
	readonly tools: number;
	readonly version: string;
}

function membersIn(folder: string): readonly Member[] {
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

export interface Outcome {
	readonly member: Member;
	/** What the client was told in the answer to its initialize, and what the server itself answers. */
	readonly told: unknown;
	readonly spoken: unknown;
	/** How many tools each of several lists had. */
	readonly lists: readonly number[];
	readonly ending: JsonEnding;
}

const asks = [2, 3, 4, 5];

/** A whole short session, everything in one burst. */
async function visit(client: JsonClient, version: string) {
	client.send(initialize(1, version), initialized, ...asks.map(listTools));
	const told = (await client.answer(1)).result?.protocolVersion;
	const answers = await Promise.all(asks.map(id => client.answer(id)));
	return {told, lists: answers.map(answer => toolNames(answer).length)};
}

async function spokenBy(t: ExecutionContext, server: Command): Promise<unknown> {
	const client = new JsonClient(t, server);
	client.send(initialize(1, '2025-11-25'));
	const {result} = await client.answer(1);
	// Some of them have timers that outlive their stdin.
	await client.kill();
	return result?.protocolVersion;
}

/** Starts all servers at once, each behind a bridge of its own; each is open until all have answered. */
export async function visitAll(t: ExecutionContext, version: string): Promise<Outcome[]> {
	const folder = await temporaryFolder(t);
	const members = membersIn(folder).map(member => {
		const file = member.file.endsWith('.js') ? member.file : `${member.file}/dist/index.js`;
		const args = [fileURLToPath(peerUrl(file)), ...(member.args ?? [])];
		// The variable is how the processes are found if a test leaves some behind.
		const env = {...member.env, BRIDGE_TEST_FOLDER: folder};
		return {member, server: {command: process.execPath, args, env}};
	});
	const clients = members.map(({server}) => new JsonClient(t, throughBridge(server)));
	const visits = await Promise.all(clients.map(client => visit(client, version)));
	const endings = await Promise.all(clients.map(client => client.close()));
	const outcomes: Outcome[] = [];
	for (const [index, {member, server}] of members.entries()) {
		const [seen, ending] = [visits[index], endings[index]];
		if (seen && ending) {
			outcomes.push({member, ...seen, spoken: await spokenBy(t, server), ending});
		}
	}

	return outcomes;
}
