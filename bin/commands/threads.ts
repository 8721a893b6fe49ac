import {basename, resolve} from 'node:path';
import process from 'node:process';
import {ago} from '../../lib/ago.js';
import {lookAtTeam, type TeamView, teamsIn} from '../../lib/sessions/look.js';
import {isOld, prune} from '../../lib/sessions/prune.js';
import type {SessionEntry} from '../../lib/sessions/types.js';
import {textTable} from '../../lib/text-table.js';
import {defineCommand} from '../cli/command.js';
import {flag, type Options, text, type Values} from '../cli/option.js';
import {json, ownLogOptions, sessionOptions} from '../cli/options.js';
import {atmConfig} from '../common/atm-config.js';
import {ownLog} from '../common/observers.js';
import {jsonText, tell, write} from '../common/own-output.js';

const options = {
	...sessionOptions,
	repo: text('NAME', 'only sessions in this repository, by its name or its folder'),
	prune: flag(
		'removes sessions that are over and have not been used for 30 days, or whose folder is gone, with\ntheir summaries, and lists them',
	),
	json,
	...ownLogOptions,
} satisfies Options;

type Flags = Values<typeof options>;

export const command = defineCommand({
	summary: 'the known Codex sessions; --prune removes old ones',
	usage: [
		['bridge threads [--team TEAM] [--repo NAME] [--identity NAME] [--json]'],
		['bridge threads --prune'],
	],
	details: `Sessions of all teams are listed, active ones first, then those used last. A session is active while its bridge serve runs,
stale when that is gone (it can be resumed), closed, or interrupted.`,
	options,
	examples: ['bridge threads --repo my-app', "bridge threads --identity arch --json | jq -r '.[0].codex_id'"],
	exitCodes: '0 fine, 1 a registry cannot be read, 2 wrong arguments',
	run: ({options}) => listThreads(options),
});

async function listThreads(flags: Flags): Promise<number> {
	const {config, warnings} = await atmConfig(flags);
	for (const warning of warnings) await tell(warning);
	const teams = await teamsIn(config.base, flags.team === undefined ? undefined : config.team);
	const views = await Promise.all(teams.map(team => lookAtTeam(config.base, team)));
	for (const {folder, problem} of views)
		if (problem !== undefined)
			await tell(`The registry in ${folder} cannot be read: ${problem}. bridge doctor says more.`);
	const found = views.map(view => ({...view, entries: view.entries.filter(entry => isWanted(entry, flags))}));
	await (flags.prune ? removeOld(found, flags) : show(found, flags));
	return views.some(({problem}) => problem !== undefined) ? 1 : 0;
}

function isWanted({identity, repo_name, repo_root}: SessionEntry, {identity: wanted, repo}: Flags): boolean {
	if (wanted !== undefined && identity !== wanted) return false;
	if (repo === undefined) return true;
	return (
		repo_name === repo ||
		(repo_root !== null && (repo_root === resolve(repo) || basename(repo_root) === repo))
	);
}

async function show(views: readonly TeamView[], {json}: Flags): Promise<void> {
	const entries = views.flatMap(view => view.entries).sort(byUse);
	if (json) return write(process.stdout, jsonText(entries));
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
			entry.identity,
			entry.team,
			entry.status,
			entry.state,
			ago(entry.last_active),
			String(entry.turns),
			entry.repo_name ?? '-',
			entry.branch ?? '-',
			entry.tag ?? '-',
			entry.codex_id,
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
	if (flags.json) {
		const list = removed.map(({entry, hadSummary}) => ({...entry, had_summary: hadSummary}));
		return write(process.stdout, jsonText(list));
	}
	const table = removed.length > 0 ? sessionTable(removed.map(({entry}) => entry)) : '';
	const summaries = removed.filter(({hadSummary}) => hadSummary).length;
	const sessions = removed.length === 1 ? '1 session' : `${removed.length} sessions`;
	const texts = summaries === 1 ? '1 summary' : `${summaries} summaries`;
	await write(process.stdout, `${table}Removed ${sessions} and ${texts}.\n`);
}
