import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import type {ExecutionContext} from 'ava';
import type {JsonObject} from '../../../lib/util/json.js';
import {tempFolder} from '../../helpers/temp-folder.js';
import {place, type ServeClient, startServe, type ToolResult} from '../serve/support.js';

export type TeamOptions = {
	readonly names?: readonly string[];
	readonly team?: string;
	/** The folder that `.claude` is in. */
	readonly home?: string;
};

/** Creates a `.claude` folder with one team. Returns paths and functions that read and write its files. */
export function teamOf(
	t: ExecutionContext,
	{names = ['team-lead', 'dev-1', 'dev-2'], team = 'crew', home = tempFolder(t)}: TeamOptions = {},
) {
	const claude = join(home, '.claude');
	const folder = join(claude, 'teams', team);
	mkdirSync(join(folder, 'inboxes'), {recursive: true});
	const inboxOf = (agent: string): string => join(folder, 'inboxes', `${agent}.json`);
	const roster = join(folder, 'config.json');
	const members = names.map(name => memberOf(name, team));
	writeFileSync(roster, JSON.stringify({...rosterHead(team), members}, undefined, 2));
	return {
		home,
		claude,
		folder,
		team,
		roster,
		inboxOf,
		put: (agent: string, records: unknown): void =>
			writeFileSync(inboxOf(agent), JSON.stringify(records, undefined, 2)),
		// biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary members.
		inbox: (agent: string): any => JSON.parse(readFileSync(inboxOf(agent), 'utf8')),
		// biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary members.
		config: (): any => JSON.parse(readFileSync(roster, 'utf8')),
	};
}

export const memberOf = (name: string, team: string) => ({
	agentId: `${name}@${team}`,
	name,
	agentType: 'general-purpose',
	model: 'some-model',
	joinedAt: 1_770_765_919_076,
	tmuxPaneId: '',
	cwd: '/repo',
	subscriptions: [],
});

const rosterHead = (team: string) => ({
	name: team,
	description: 'A crew',
	createdAt: 1_770_765_919_076,
	leadAgentId: `team-lead@${team}`,
	leadSessionId: '0b9c3a52-6a54-4d0e-8a3e-0f8a0d4c7c11',
});

let count = 0;

/** A message as Claude Code writes it. */
export const native = (from: string, text: string, more: object = {}) => ({
	from,
	text,
	timestamp: new Date(1_770_000_000_000 + count++).toISOString(),
	read: false,
	...more,
});

/** Starts `bridge serve` for the team `crew`, which has three members of other programs. */
export async function openCrew(t: ExecutionContext, ...args: string[]) {
	const at = await place(t, 'mcp-server');
	// Without auto_mail, tests read mail through the tools.
	at.configure('[plugins.codex-mcp]\nauto_mail = false\n');
	const team = teamOf(t, {home: at.base});
	return {at, team, client: await startServe(t, at, '--team', team.team, ...args)};
}

export const call = (
	client: ServeClient,
	name: string,
	args: JsonObject,
	meta?: JsonObject,
): Promise<ToolResult> => client.call(name, args, meta).result;
