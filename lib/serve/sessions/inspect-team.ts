import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {readRegularTextFile} from '../../files/read-regular-file.js';
import {isSafeName} from '../names.js';
import {auditFolder} from '../paths.js';
import {findIdentityOwner} from './identity-locks.js';
import {parseEntry, parseRegistry} from './registry-file.js';
import {registryPath} from './session-table.js';
import type {SessionEntry} from './types.js';

const MAX_BYTES = 64 * 2 ** 20;

/** A read-only view of a team's registry. */
export type TeamView = {
	readonly team: string;
	/** The name of the state folder: a team, or a repository without one. */
	readonly name: string;
	readonly folder: string;
	readonly entries: readonly SessionEntry[];
	/** Why the registry cannot be read. */
	readonly error: string | undefined;
};

/** Lists the state folders of one team or of all. Repositories without a team have their own folders. */
export async function listTeamFolders(base: string, team?: string): Promise<string[]> {
	const folders = await readdir(auditFolder(base), {withFileTypes: true}).catch(() => []);
	return folders
		.filter(item => item.isDirectory() && isSafeName(teamOf(item.name)))
		.map(({name}) => name)
		.filter(name => team === undefined || teamOf(name) === team)
		.sort();
}

const teamOf = (name: string): string => name.split('@', 1)[0] ?? name;

/** Reads a registry. Active sessions whose process has exited are shown as stale. */
export async function inspectTeam(base: string, name: string): Promise<TeamView> {
	const folder = join(auditFolder(base), name);
	const team = teamOf(name);
	try {
		const text = await readRegularTextFile(registryPath(folder), MAX_BYTES);
		const records = text === undefined ? [] : [...parseRegistry(text).records.values()];
		const entries: SessionEntry[] = [];
		for (const entry of records.map(parseEntry))
			if (entry) entries.push(entry.status === 'active' ? await withActualStatus(folder, entry) : entry);
		return {team, name, folder, entries, error: undefined};
	} catch (error) {
		const message = error instanceof Error ? error.message : String(error);
		return {team, name, folder, entries: [], error: message};
	}
}

async function withActualStatus(folder: string, entry: SessionEntry): Promise<SessionEntry> {
	const owner = isSafeName(entry.identity) ? await findIdentityOwner(folder, entry.identity) : undefined;
	return owner?.codexId === entry.codex_id ? entry : {...entry, status: 'stale', state: 'closed'};
}
