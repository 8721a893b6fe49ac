import {readdir} from 'node:fs/promises';
import {isName} from '../atm/names.js';
import {auditFolder, stateFolder} from '../atm/paths.js';
import {readPlainText} from '../store/read-plain.js';
import {holderIn} from './identity-locks.js';
import {entryOf, parseRegistry} from './registry-file.js';
import {registryPath} from './session-table.js';
import type {SessionEntry} from './types.js';

const MAX_BYTES = 64 * 2 ** 20;

/** What can be seen of a team from outside, without changing anything. */
export type TeamView = {
	readonly team: string;
	readonly folder: string;
	readonly entries: readonly SessionEntry[];
	/** Why its registry cannot be read, if it cannot. */
	readonly problem: string | undefined;
};

/** The teams that have had sessions. */
export async function teamsIn(base: string): Promise<string[]> {
	const found = await readdir(auditFolder(base), {withFileTypes: true}).catch(() => []);
	return found
		.filter(item => item.isDirectory() && isName(item.name))
		.map(({name}) => name)
		.sort();
}

/** Sessions that are said to be active, but whose process is gone, are shown as the stale ones that they are. */
export async function lookAtTeam(base: string, team: string): Promise<TeamView> {
	const folder = stateFolder(base, team);
	try {
		const text = await readPlainText(registryPath(folder), MAX_BYTES);
		const records = text === undefined ? [] : [...parseRegistry(text).records.values()];
		const entries: SessionEntry[] = [];
		for (const entry of records.map(entryOf))
			if (entry) entries.push(entry.status === 'active' ? await asItIs(folder, entry) : entry);
		return {team, folder, entries, problem: undefined};
	} catch (error) {
		const problem = error instanceof Error ? error.message : String(error);
		return {team, folder, entries: [], problem};
	}
}

async function asItIs(folder: string, entry: SessionEntry): Promise<SessionEntry> {
	const holder = isName(entry.identity) ? await holderIn(folder, entry.identity) : undefined;
	return holder?.codexId === entry.codex_id ? entry : {...entry, status: 'stale', state: 'closed'};
}
