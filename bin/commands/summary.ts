import process from 'node:process';
import {BridgeError} from '../../lib/core/errors.js';
import {isSafeName} from '../../lib/serve/names.js';
import {findEntry} from '../../lib/serve/sessions/find-entry.js';
import {inspectTeam, listTeamFolders, type TeamView} from '../../lib/serve/sessions/inspect-team.js';
import {SessionSummaries} from '../../lib/serve/sessions/session-summaries.js';
import {locateSessionState} from '../../lib/serve/sessions/state-folder.js';
import type {SessionEntry} from '../../lib/serve/sessions/types.js';
import {printableLines} from '../../lib/util/printable.js';
import {loadAtmConfigWithFlags} from '../shared/atm-config.js';
import {defineCommand} from '../shared/cli/command.js';
import type {Options, OptionValues} from '../shared/cli/option.js';
import {jsonFlag, sessionOptions} from '../shared/cli/options.js';
import {usageError} from '../shared/flag-values.js';
import {prettyJson, printNotice, writeText} from '../shared/output.js';

const {team, config, trust} = sessionOptions;
const options = {team, config, trust, json: jsonFlag} satisfies Options;

type Flags = OptionValues<typeof options>;

export const command = defineCommand({
	summary: 'prints the saved summary of a Codex session',
	usage: [['bridge summary ID [--team TEAM] [--json]']],
	details:
		'ID is a codex id, the id of a thread, or an identity, which selects its active session, else the one used last.',
	options,
	maxPositionals: 1,
	examples: [
		'bridge summary codex:0b9c6a3e-8f7d-4b67-9f0a-2f6d6f1f9c11',
		'bridge summary arch-ctm > summary.md',
	],
	exitCodes: '0 printed, 1 the session or its summary does not exist, 2 invalid arguments',
	run: ({positionals: [id], options}) => printSummary(id, options),
});

async function printSummary(id: string | undefined, flags: Flags): Promise<number> {
	if (id === undefined)
		throw usageError(
			'bridge summary needs a session.',
			'Write: bridge summary CODEX-ID, or its thread id or identity.',
		);
	const {config, warnings} = await loadAtmConfigWithFlags(flags);
	for (const warning of warnings) await printNotice(warning);
	const teams = await listTeamFolders(config.base, flags.team === undefined ? undefined : config.team);
	const views = await Promise.all(teams.map(team => inspectTeam(config.base, team)));
	const own = await locateSessionState(config, process.cwd());
	const {folder, entry} = findSession(views, id, own.folder, config.team);
	const found = await readSummary(new SessionSummaries(folder), entry);
	if (!found)
		throw summaryError(
			`The session ${entry.codex_id} (${entry.identity}) has no summary.`,
			summaryAdvice(entry),
		);
	const {codex_id, identity, team} = entry;
	const json = {codex_id, identity, team, ...found};
	const text = process.stdout.isTTY ? printableLines(found.summary) : found.summary;
	const plain = text.endsWith('\n') ? text : `${text}\n`;
	await writeText(process.stdout, flags.json ? prettyJson(json) : plain);
	return 0;
}

/**
 * Finds the session for an id. If an identity exists in several folders, the current folder and then its team
 * win.
 */
function findSession(
	views: readonly TeamView[],
	id: string,
	ownFolder: string,
	ownTeam: string,
): {folder: string; entry: SessionEntry} {
	const found = views.flatMap(({folder, entries}) => {
		const entry = findEntry(entries, id);
		return entry ? [{folder, entry}] : [];
	});
	const [first, second] = found;
	if (!first) throw summaryError(`Session ${id} was not found.`, 'bridge threads lists all sessions.');
	const ofTeam = found.filter(({entry}) => entry.team === ownTeam);
	const preferred =
		found.find(({folder}) => folder === ownFolder) ?? (ofTeam.length === 1 ? ofTeam[0] : undefined);
	if (second && !preferred) {
		const teams = [...new Set(found.map(({entry}) => entry.team))];
		if (ofTeam.length === 0 && teams.length > 1)
			throw summaryError(
				`${id} exists in several teams: ${teams.join(', ')}.`,
				'Select one with --team TEAM.',
			);
		const ids = found.map(({entry}) => `${entry.codex_id} (team ${entry.team}, ${entry.cwd})`).join(', ');
		throw summaryError(`${id} matches several sessions: ${ids}.`, 'Use the codex id of one of them.');
	}
	return preferred ?? first;
}

/** Reads the summary of the thread's current id, or of the latest previous id that has one. */
async function readSummary(
	summaries: SessionSummaries,
	{identity, thread_id, previous_thread_ids}: SessionEntry,
): Promise<{thread_id: string; path: string; summary: string} | undefined> {
	for (const thread of [thread_id, ...previous_thread_ids.toReversed()]) {
		if (thread === null || !isSafeName(thread) || !isSafeName(identity)) continue;
		const summary = await summaries.read(identity, thread);
		if (summary !== undefined) return {thread_id: thread, path: summaries.path(identity, thread), summary};
	}
	return;
}

/** Explains when a summary is written. codex_close writes none for an idle session. */
const summaryAdvice = ({status}: SessionEntry): string =>
	status === 'active'
		? 'A summary is written when bridge serve ends, or when codex_close interrupts a turn of the session.'
		: 'No summary is written if codex_close ends an idle session or if bridge serve crashes. To resume it, call codex with its codex_id.';

const summaryError = (message: string, remedy: string): BridgeError =>
	new BridgeError('ERR_UPSTREAM_INVALID', message, remedy);
