import {basename, resolve} from 'node:path';
import process from 'node:process';
import {ago} from '../lib/ago.js';
import {lookAtTeam, type TeamView, teamsIn} from '../lib/sessions/look.js';
import {isOld, prune} from '../lib/sessions/prune.js';
import type {SessionEntry} from '../lib/sessions/types.js';
import {textTable} from '../lib/text-table.js';
import type {Flags, Invocation} from './flags.js';
import {ownLog} from './observers.js';
import {atmConfig, jsonText, tell, write} from './own-output.js';

/** `bridge threads`: the sessions that are known, of all teams or of one, and away with the old ones. */
export async function runThreads({flags}: Invocation): Promise<number> {
	const {config, warnings} = await atmConfig(flags, flags.config);
	for (const warning of warnings) await tell(warning);
	const teams = flags.session.team === undefined ? await teamsIn(config.base) : [config.team];
	const views = await Promise.all(teams.map(team => lookAtTeam(config.base, team)));
	for (const {folder, problem} of views)
		if (problem !== undefined)
			await tell(`The registry in ${folder} cannot be read: ${problem}. bridge doctor says more.`);
	const found = views.map(view => ({...view, entries: view.entries.filter(entry => isWanted(entry, flags))}));
	await (flags.companion.isPruning ? removeOld(found, flags) : show(found, flags));
	return views.some(({problem}) => problem !== undefined) ? 1 : 0;
}

function isWanted({identity, repo_name, repo_root}: SessionEntry, {session, companion}: Flags): boolean {
	const {repo} = companion;
	if (session.identity !== undefined && identity !== session.identity) return false;
	if (repo === undefined) return true;
	return (
		repo_name === repo ||
		(repo_root !== null && (repo_root === resolve(repo) || basename(repo_root) === repo))
	);
}

async function show(views: readonly TeamView[], {companion}: Flags): Promise<void> {
	const entries = views.flatMap(view => view.entries).sort(byUse);
	if (companion.isJson) return write(process.stdout, jsonText(entries));
	if (entries.length === 0) return write(process.stdout, 'There are no such sessions.\n');
	await write(process.stdout, sessionTable(entries));
}

/** Those at work first, then those used last. */
const byUse = (one: SessionEntry, other: SessionEntry): number =>
	Number(other.status === 'active') - Number(one.status === 'active') ||
	Date.parse(other.last_active) - Date.parse(one.last_active);

const sessionTable = (entries: readonly SessionEntry[]): string =>
	textTable(
		['IDENTITY', 'TEAM', 'STATUS', 'STATE', 'LAST ACTIVE', 'TURNS', 'REPO', 'BRANCH', 'TAG', 'CODEX ID'],
		entries.map(entry => [
			...[entry.identity, entry.team, entry.status, entry.state, ago(entry.last_active), String(entry.turns)],
			...[entry.repo_name ?? '-', entry.branch ?? '-', entry.tag ?? '-', entry.codex_id],
		]),
	);

async function removeOld(views: readonly TeamView[], flags: Flags): Promise<void> {
	const {log} = ownLog(flags);
	const now = new Date();
	const removed = [];
	for (const {folder, entries} of views) {
		const old = entries.filter(entry => isOld(entry, now));
		if (old.length > 0) removed.push(...(await prune(folder, old, log)));
	}
	if (flags.companion.isJson) {
		const list = removed.map(({entry, hadSummary}) => ({...entry, had_summary: hadSummary}));
		return write(process.stdout, jsonText(list));
	}
	const table = removed.length > 0 ? sessionTable(removed.map(({entry}) => entry)) : '';
	const summaries = removed.filter(({hadSummary}) => hadSummary).length;
	await write(process.stdout, `${table}Removed ${removed.length} sessions and ${summaries} summaries.\n`);
}
