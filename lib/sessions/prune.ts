import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {isName} from '../atm/names.js';
import type {Log} from '../log.js';
import {underLock} from '../store/folder-lock.js';
import {SessionTable} from './session-table.js';
import {Summaries} from './summary.js';
import type {SessionEntry} from './types.js';

const MAX_AGE_MS = 30 * 24 * 3_600_000;

/** Whether a session is over, and so old, or its folder so gone, that nobody will come back to it. */
export const isOld = ({status, last_active, cwd}: SessionEntry, now: Date): boolean =>
	status !== 'active' && (!(now.getTime() - Date.parse(last_active) < MAX_AGE_MS) || !existsSync(cwd));

/** A session that was removed, and whether its summary was. */
export type Pruned = {readonly entry: SessionEntry; readonly hadSummary: boolean};

/** Removes sessions and their summaries. Nothing is removed that changed since it was looked at. */
export async function prune(folder: string, chosen: readonly SessionEntry[], log: Log): Promise<Pruned[]> {
	const table = new SessionTable({folder, log, now: () => new Date()});
	const removed = await underLock(join(folder, '.lock'), async () => {
		await table.read();
		const old = chosen.filter(({codex_id, last_active}) => table.get(codex_id)?.last_active === last_active);
		for (const {codex_id} of old) table.remove(codex_id);
		if (old.length > 0) await table.write();
		return old;
	});
	const summaries = new Summaries(folder);
	const pruned: Pruned[] = [];
	for (const entry of removed) pruned.push({entry, hadSummary: await removeSummaries(summaries, entry)});
	return pruned;
}

async function removeSummaries(summaries: Summaries, entry: SessionEntry): Promise<boolean> {
	const {identity, thread_id, previous_thread_ids} = entry;
	let hadSummary = false;
	for (const thread of [thread_id, ...previous_thread_ids])
		if (thread !== null && isName(thread) && isName(identity))
			hadSummary = (await summaries.remove(identity, thread)) || hadSummary;
	return hadSummary;
}
