import {existsSync} from 'node:fs';
import {isAbsolute, join} from 'node:path';
import {isWithin} from '../atm/files.js';
import {isName} from '../atm/names.js';
import type {Log} from '../log.js';
import {underLock} from '../store/folder-lock.js';
import {makeFolder} from '../store/make-folder.js';
import {repoContext} from './context.js';
import {isInUse} from './identity-locks.js';
import {registryPath, SessionTable} from './session-table.js';
import {Summaries} from './summary.js';
import type {SessionEntry} from './types.js';

export type MoveOptions = {
	/** The folder of the team, where earlier versions of bridge kept the sessions of all repositories. */
	readonly from: string;
	readonly to: string;
	/** The repository whose sessions are moved. */
	readonly root: string;
	readonly log: Log;
};

/**
 * Moves the sessions of one repository into its own folder, with their summaries. While another process has sessions in the old
 * folder, all stay there: that process resumes closed ones from it. Each step can be repeated, so that a crash loses nothing: a session is copied before it is removed.
 */
export async function moveSessions({from, to, root, log}: MoveOptions): Promise<void> {
	if (!existsSync(registryPath(from))) return;
	const [old, own] = [from, to].map(folder => new SessionTable({folder, log, now: () => new Date()}));
	if (!old || !own) return;
	const moved = await underLock(join(from, '.lock'), async () => {
		await old.read();
		const chosen: SessionEntry[] = [];
		for (const entry of old.entries()) if (await belongsTo(root, entry)) chosen.push(entry);
		if (chosen.length === 0) return chosen;
		if (await isInUse(from)) {
			const sentence = `Another bridge serve uses the sessions in ${from}. Those of ${root} are moved to ${to} at a later start.`;
			log.info('registry.move_deferred', sentence, {sessions: chosen.length});
			return [];
		}
		await makeFolder(to);
		await underLock(join(to, '.lock'), async () => {
			await own.read();
			for (const entry of chosen) if (!own.get(entry.codex_id)) own.put(asEnded(entry));
			if (own.hasChanges) await own.write();
		});
		const summaries = {from: new Summaries(from), to: new Summaries(to)};
		for (const entry of chosen) await moveSummaries(summaries, entry);
		for (const {codex_id: codexId} of chosen) old.remove(codexId);
		await old.write();
		return chosen;
	});
	if (moved.length > 0)
		log.info('registry.moved', `Sessions of ${root} were moved from ${from} to ${to}.`, {
			sessions: moved.length,
		});
}

/** Sessions below a folder that is not a repository stay with their own repositories: it may be the home folder. */
async function belongsTo(root: string, {repo_root: repository, cwd}: SessionEntry): Promise<boolean> {
	if ((repository ?? cwd) === root) return true;
	if (repository !== null && repoContext(root).repo_root !== root) return false;
	return isAbsolute(cwd) && isWithin(cwd, root);
}

const asEnded = (entry: SessionEntry): SessionEntry =>
	entry.status === 'active' ? {...entry, status: 'stale', state: 'closed'} : entry;

async function moveSummaries(
	{from, to}: {readonly from: Summaries; readonly to: Summaries},
	{identity, thread_id, previous_thread_ids}: SessionEntry,
): Promise<void> {
	for (const thread of [thread_id, ...previous_thread_ids]) {
		if (thread === null || !isName(thread) || !isName(identity)) continue;
		const summary = await from.read(identity, thread).catch(() => undefined);
		if (summary === undefined) continue;
		await to.write(identity, thread, summary);
		await from.remove(identity, thread);
	}
}
