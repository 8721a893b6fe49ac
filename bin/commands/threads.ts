import {basename, resolve} from 'node:path';
import process from 'node:process';
import {inspectTeam, listTeamFolders, type TeamView} from '../../lib/serve/sessions/inspect-team.js';
import {isPrunable, pruneSessions} from '../../lib/serve/sessions/prune-sessions.js';
import type {SessionEntry} from '../../lib/serve/sessions/types.js';
import {loadAtmConfigWithFlags} from '../shared/atm-config.js';
import {defineCommand} from '../shared/cli/command.js';
import {booleanFlag, type Options, type OptionValues, textFlag} from '../shared/cli/option.js';
import {jsonFlag, sessionOptions, stderrLogOptions} from '../shared/cli/options.js';
import {createStderrLog} from '../shared/observers.js';
import {prettyJson, printNotice, writeText} from '../shared/output.js';
import {textTable} from '../shared/text-table.js';
import {timeAgo} from '../shared/time-ago.js';

const options = {
	...sessionOptions,
	repo: textFlag('NAME', 'only sessions in this repository, by its name or its folder'),
	prune: booleanFlag(
		'removes finished sessions unused for 30 days, or whose folder no longer exists, with their\nsummaries, and lists them',
	),
	json: jsonFlag,
	...stderrLogOptions,
} satisfies Options;

type Flags = OptionValues<typeof options>;

export const command = defineCommand({
	summary: 'lists the known Codex sessions; --prune removes old ones',
	usage: [
		['bridge threads [--team TEAM] [--repo NAME] [--identity NAME] [--json]'],
		['bridge threads --prune'],
	],
	details: `Sessions of all teams are listed, active ones first, then by last use. A session is active while its bridge serve runs,
stale when that has exited (it can be resumed), closed, or interrupted.`,
	options,
	examples: ['bridge threads --repo my-app', "bridge threads --identity arch --json | jq -r '.[0].codex_id'"],
	exitCodes: '0 success, 1 a registry cannot be read, 2 invalid arguments',
	run: ({options}) => listThreads(options),
});

async function listThreads(flags: Flags): Promise<number> {
	const {config, warnings} = await loadAtmConfigWithFlags(flags);
	for (const warning of warnings) await printNotice(warning);
	const teams = await listTeamFolders(config.base, flags.team === undefined ? undefined : config.team);
	const views = await Promise.all(teams.map(team => inspectTeam(config.base, team)));
	for (const {folder, error} of views)
		if (error !== undefined)
			await printNotice(`The registry in ${folder} cannot be read: ${error}. Run bridge doctor for details.`);
	const found = views.map(view => ({
		...view,
		entries: view.entries.filter(entry => matchesFlags(entry, flags)),
	}));
	await (flags.prune ? removeOld(found, flags) : printSessions(found, flags));
	return views.some(({error}) => error !== undefined) ? 1 : 0;
}

function matchesFlags(
	{identity, repo_name, repo_root}: SessionEntry,
	{identity: requested, repo}: Flags,
): boolean {
	if (requested !== undefined && identity !== requested) return false;
	if (repo === undefined) return true;
	return (
		repo_name === repo ||
		(repo_root !== null && (repo_root === resolve(repo) || basename(repo_root) === repo))
	);
}

async function printSessions(views: readonly TeamView[], {json}: Flags): Promise<void> {
	const entries = views.flatMap(view => view.entries).sort(byActivity);
	if (json) return writeText(process.stdout, prettyJson(entries));
	if (entries.length === 0) return writeText(process.stdout, 'No sessions were found.\n');
	await writeText(process.stdout, sessionTable(entries));
}

/** Sorts active sessions first, then by last activity. */
const byActivity = (one: SessionEntry, other: SessionEntry): number =>
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
			timeAgo(entry.last_active),
			String(entry.turns),
			entry.repo_name ?? '-',
			entry.branch ?? '-',
			entry.tag ?? '-',
			entry.codex_id,
		]),
	);

async function removeOld(views: readonly TeamView[], flags: Flags): Promise<void> {
	const {log} = createStderrLog(flags);
	const now = new Date();
	const removed = [];
	for (const {folder, entries} of views) {
		const old = entries.filter(entry => isPrunable(entry, now));
		if (old.length > 0) removed.push(...(await pruneSessions(folder, old, log)));
	}
	if (flags.json) {
		const list = removed.map(({entry, hadSummary}) => ({...entry, had_summary: hadSummary}));
		return writeText(process.stdout, prettyJson(list));
	}
	const table = removed.length > 0 ? sessionTable(removed.map(({entry}) => entry)) : '';
	const summaries = removed.filter(({hadSummary}) => hadSummary).length;
	const sessions = removed.length === 1 ? '1 session' : `${removed.length} sessions`;
	const texts = summaries === 1 ? '1 summary' : `${summaries} summaries`;
	await writeText(process.stdout, `${table}Removed ${sessions} and ${texts}.\n`);
}
