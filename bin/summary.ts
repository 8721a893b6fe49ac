import process from 'node:process';
import {isName} from '../lib/atm/names.js';
import {BridgeError} from '../lib/errors.js';
import {printableLines} from '../lib/printable.js';
import {findEntry} from '../lib/sessions/find-entry.js';
import {lookAtTeam, type TeamView, teamsIn} from '../lib/sessions/look.js';
import {Summaries} from '../lib/sessions/summary.js';
import type {SessionEntry} from '../lib/sessions/types.js';
import type {Invocation} from './flags.js';
import {atmConfig, jsonText, tell, write} from './own-output.js';

/** `bridge summary ID`: what a session has left in writing, by codex id, thread id or identity. */
export async function runSummary({words, flags}: Invocation): Promise<number> {
	const [, id] = words;
	if (id === undefined)
		throw new BridgeError(
			'ERR_CONFIG_INVALID',
			'Which session?',
			'Write: bridge summary CODEX-ID, or its thread id or identity.',
		);
	const {config, warnings} = await atmConfig(flags, flags.config);
	for (const warning of warnings) await tell(warning);
	const teams = flags.session.team === undefined ? await teamsIn(config.base) : [config.team];
	const views = await Promise.all(teams.map(team => lookAtTeam(config.base, team)));
	const {folder, entry} = chosen(views, id, config.team);
	const found = await read(new Summaries(folder), entry);
	if (!found)
		throw failed(
			`The session ${entry.codex_id} (${entry.identity}) has no summary.`,
			'One is written when it is closed or bridge serve ends.',
		);
	const {codex_id, identity, team} = entry;
	const json = {codex_id, identity, team, ...found};
	const text = process.stdout.isTTY ? printableLines(found.summary) : found.summary;
	const plain = text.endsWith('\n') ? text : `${text}\n`;
	await write(process.stdout, flags.companion.isJson ? jsonText(json) : plain);
	return 0;
}

/** The session that is meant; an identity may be known in several teams, of which the configured one comes first. */
function chosen(
	views: readonly TeamView[],
	id: string,
	ownTeam: string,
): {folder: string; entry: SessionEntry} {
	const found = views.flatMap(({folder, entries}) => {
		const entry = findEntry(entries, id);
		return entry ? [{folder, entry}] : [];
	});
	const [first, second] = found;
	if (!first) throw failed(`There is no session ${id}.`, 'bridge threads lists all.');
	const own = found.find(({entry}) => entry.team === ownTeam);
	if (second && !own) {
		const teams = found.map(({entry}) => entry.team).join(', ');
		throw failed(`${id} is known in several teams: ${teams}.`, 'Say which: --team TEAM.');
	}
	return own ?? first;
}

/** The summary under the thread's last id, or under one that it had before. */
async function read(
	summaries: Summaries,
	{identity, thread_id, previous_thread_ids}: SessionEntry,
): Promise<{thread_id: string; path: string; summary: string} | undefined> {
	for (const thread of [thread_id, ...previous_thread_ids.toReversed()]) {
		if (thread === null || !isName(thread) || !isName(identity)) continue;
		const summary = await summaries.read(identity, thread);
		if (summary !== undefined) return {thread_id: thread, path: summaries.path(identity, thread), summary};
	}
	return;
}

const failed = (message: string, remedy: string): BridgeError =>
	new BridgeError('ERR_UPSTREAM_INVALID', message, remedy);
