import {existsSync} from 'node:fs';
import {join} from 'node:path';
import type {Log} from '../../core/log.js';
import {withFolderLock} from '../../files/folder-lock.js';
import {isSafeName} from '../names.js';
import {SessionSummaries} from './session-summaries.js';
import {SessionTable} from './session-table.js';
import type {SessionEntry} from './types.js';

const MAX_AGE_MS = 30 * 24 * 3_600_000;

/** Whether a session is inactive and either too old or without its folder. */
export const isPrunable = ({status, last_active, cwd}: SessionEntry, now: Date): boolean =>
	status !== 'active' && (!(now.getTime() - Date.parse(last_active) < MAX_AGE_MS) || !existsSync(cwd));

type PrunedSession = {readonly entry: SessionEntry; readonly hadSummary: boolean};

/** Removes sessions and their summaries. Skips sessions that have changed since `candidates` were read. */
export async function pruneSessions(
	folder: string,
	candidates: readonly SessionEntry[],
	log: Log,
): Promise<PrunedSession[]> {
	const table = new SessionTable({folder, log, now: () => new Date()});
	const removed = await withFolderLock(join(folder, '.lock'), async () => {
		await table.read();
		const unchanged = candidates.filter(
			({codex_id, last_active}) => table.get(codex_id)?.last_active === last_active,
		);
		for (const {codex_id} of unchanged) table.remove(codex_id);
		if (unchanged.length > 0) await table.write();
		return unchanged;
	});
	const summaries = new SessionSummaries(folder);
	const pruned: PrunedSession[] = [];
	for (const entry of removed) pruned.push({entry, hadSummary: await removeSummaries(summaries, entry)});
	return pruned;
}

async function removeSummaries(summaries: SessionSummaries, entry: SessionEntry): Promise<boolean> {
	const {identity, thread_id, previous_thread_ids} = entry;
	let hadSummary = false;
	for (const thread of [thread_id, ...previous_thread_ids])
		if (thread !== null && isSafeName(thread) && isSafeName(identity))
			hadSummary = (await summaries.remove(identity, thread)) || hadSummary;
	return hadSummary;
}
