import {existsSync} from 'node:fs';
import {isAbsolute, join} from 'node:path';
import type {Log} from '../../core/log.js';
import {withFolderLock} from '../../files/folder-lock.js';
import {makeFolder} from '../../files/make-folder.js';
import {isWithin} from '../config/files.js';
import {isSafeName} from '../names.js';
import {hasLiveLocks} from './identity-locks.js';
import {readRepoContext} from './session-context.js';
import {SessionSummaries} from './session-summaries.js';
import {registryPath, SessionTable} from './session-table.js';
import type {SessionEntry} from './types.js';

export type MoveSessionsOptions = {
	/** The folder of the team. Earlier versions of bridge stored the sessions of all repositories in it. */
	readonly from: string;
	readonly to: string;
	readonly repoRoot: string;
	readonly log: Log;
};

/**
 * Moves the sessions of one repository and their summaries into its own folder. Does nothing while another
 * process uses the old folder, since that process can still resume closed sessions from it. A crash loses
 * nothing: sessions are copied before they are removed, and each step is idempotent.
 */
export async function moveSessions({from, to, repoRoot, log}: MoveSessionsOptions): Promise<void> {
	if (!existsSync(registryPath(from))) return;
	const [source, target] = [from, to].map(folder => new SessionTable({folder, log, now: () => new Date()}));
	if (!source || !target) return;
	const moved = await withFolderLock(join(from, '.lock'), async () => {
		await source.read();
		const matching: SessionEntry[] = [];
		for (const entry of source.entries())
			if (await belongsToRepository(repoRoot, entry)) matching.push(entry);
		if (matching.length === 0) return matching;
		if (await hasLiveLocks(from)) {
			const sentence = `Another bridge serve uses the sessions in ${from}. A later start moves those of ${repoRoot} to ${to}.`;
			log.info('registry.move_deferred', sentence, {sessions: matching.length});
			return [];
		}
		await makeFolder(to);
		await withFolderLock(join(to, '.lock'), async () => {
			await target.read();
			for (const entry of matching) if (!target.get(entry.codex_id)) target.put(asStale(entry));
			if (target.hasChanges) await target.write();
		});
		const summaries = {from: new SessionSummaries(from), to: new SessionSummaries(to)};
		for (const entry of matching) await moveSummaries(summaries, entry);
		for (const {codex_id: codexId} of matching) source.remove(codexId);
		await source.write();
		return matching;
	});
	if (moved.length > 0)
		log.info('registry.moved', `Sessions of ${repoRoot} were moved from ${from} to ${to}.`, {
			sessions: moved.length,
		});
}

/**
 * If `repoRoot` is not a repository, it may be the home folder: sessions of repositories below it do not
 * belong to it.
 */
async function belongsToRepository(
	repoRoot: string,
	{repo_root: repository, cwd}: SessionEntry,
): Promise<boolean> {
	if ((repository ?? cwd) === repoRoot) return true;
	if (repository !== null && readRepoContext(repoRoot).repo_root !== repoRoot) return false;
	return isAbsolute(cwd) && isWithin(cwd, repoRoot);
}

const asStale = (entry: SessionEntry): SessionEntry =>
	entry.status === 'active' ? {...entry, status: 'stale', state: 'closed'} : entry;

async function moveSummaries(
	{from, to}: {readonly from: SessionSummaries; readonly to: SessionSummaries},
	{identity, thread_id, previous_thread_ids}: SessionEntry,
): Promise<void> {
	for (const thread of [thread_id, ...previous_thread_ids]) {
		if (thread === null || !isSafeName(thread) || !isSafeName(identity)) continue;
		const summary = await from.read(identity, thread).catch(() => undefined);
		if (summary === undefined) continue;
		await to.write(identity, thread, summary);
		await from.remove(identity, thread);
	}
}
