import process from 'node:process';
import type {ServeConfig} from '../../lib/serve/config/types.js';
import {
	formatMailMessage,
	type InboxView,
	inspectInbox,
	listInboxes,
	mailMessageToJson,
} from '../../lib/serve/mail/inspect-inboxes.js';
import {findTeam, listTeamNames, readTeam, skippedEntriesWarning} from '../../lib/serve/mail/roster.js';
import {loadAtmConfigWithFlags} from '../shared/atm-config.js';
import {defineCommand} from '../shared/cli/command.js';
import {booleanFlag, type Options, type OptionValues} from '../shared/cli/option.js';
import {jsonFlag, sessionOptions} from '../shared/cli/options.js';
import {usageError} from '../shared/flag-values.js';
import {prettyJson, printNotice, writeText} from '../shared/output.js';
import type {StopSignals} from '../shared/stop-signals.js';
import {textTable} from '../shared/text-table.js';
import {timeAgo} from '../shared/time-ago.js';
import {followInboxes} from './mail/follow.js';

/** The number of messages that are shown per inbox. */
const LATEST = 20;

const options = {
	...sessionOptions,
	follow: booleanFlag('prints new messages as they arrive'),
	json: jsonFlag,
} satisfies Options;

type Flags = OptionValues<typeof options>;

export const command = defineCommand({
	summary: 'lists inboxes of teams, and prints or follows messages',
	usage: [
		['bridge mail [--team TEAM] [--json]', 'all inboxes, with their numbers of unread messages'],
		['bridge mail --identity NAME [--team TEAM] [--json]', 'the inbox of one agent, the latest message last'],
		['bridge mail --follow [--identity NAME]', 'new messages as they arrive'],
	],
	details: `Inboxes are those of Claude Code teams, in ~/.claude/teams/TEAM/inboxes ($ATM_HOME/.claude, or $CLAUDE_CONFIG_DIR, if set). Nothing is marked as read, and nothing is changed.`,
	options,
	examples: [
		'bridge mail --team my-team',
		"bridge mail --identity arch-ctm --json | jq -r '.[] | select(.read | not) | .text'",
	],
	exitCodes: '0 success, 1 an inbox cannot be read, 2 invalid arguments, or an unknown team or agent',
	run: ({options}, {stop}) => showMail(options, stop),
});

async function showMail(flags: Flags, stop: StopSignals): Promise<number> {
	const {config, warnings} = await loadAtmConfigWithFlags(flags);
	for (const warning of warnings) await printNotice(warning);
	const views = await viewsFor(config, flags);
	for (const team of new Set(views.map(view => view.team))) {
		const found = await findTeam(config.claude, team).catch(() => undefined);
		const warning = found && skippedEntriesWarning(config.claude, found);
		if (warning !== undefined) await printNotice(warning);
	}
	const failedCount = await (flags.follow
		? followInboxes(() => viewsFor(config, flags), flags, stop)
		: flags.identity === undefined
			? showInboxes(views, flags)
			: showMessages(views, flags));
	return failedCount > 0 ? 1 : 0;
}

/** Returns the selected inboxes. Throws if a requested team or agent does not exist. */
async function viewsFor(config: ServeConfig, flags: Flags): Promise<InboxView[]> {
	const {claude, team} = config;
	if (flags.team !== undefined) await readTeam(claude, team);
	const teams = flags.team === undefined ? await listTeamNames(claude) : [team];
	const all = (await Promise.all(teams.map(name => listInboxes(claude, name)))).flat();
	const {identity} = flags;
	if (identity === undefined) return all;
	const ofAgent = all.filter(({agent}) => agent === identity);
	if (ofAgent.length > 0) return ofAgent;
	const names = [...new Set(all.map(({agent}) => agent))].join(', ');
	throw usageError(
		`${identity} has no inbox.`,
		names === '' ? 'There are no inboxes.' : `Existing inboxes: ${names}.`,
	);
}

async function showInboxes(views: readonly InboxView[], {json}: Flags): Promise<number> {
	const inspected = await Promise.all(views.map(async view => ({...view, ...(await inspectInbox(view))})));
	const rows = inspected.map(({team, agent, isMember, messages, skipped, problem}) => ({
		team,
		agent,
		member: isMember,
		unread: messages.filter(({isRead}) => !isRead).length,
		total: messages.length,
		skipped,
		last: messages.at(-1)?.timestamp ?? null,
		last_from: messages.at(-1)?.from ?? null,
		problem: problem ?? null,
	}));
	if (json) await writeText(process.stdout, prettyJson(rows));
	else if (rows.length === 0) await writeText(process.stdout, 'No inboxes were found.\n');
	else
		await writeText(
			process.stdout,
			textTable(
				['TEAM', 'AGENT', 'UNREAD', 'TOTAL', 'LAST', 'FROM', 'NOTE'],
				rows.map(row => [
					row.team,
					row.agent,
					row.problem === null ? String(row.unread) : '?',
					String(row.total),
					row.last === null ? '-' : timeAgo(row.last),
					row.last_from ?? '-',
					row.problem ?? (row.member ? '' : 'not on the team'),
				]),
			),
		);
	return rows.filter(({problem}) => problem !== null).length;
}

async function showMessages(views: readonly InboxView[], {json}: Flags): Promise<number> {
	const shown: object[][] = [];
	let failedCount = 0;
	for (const view of views) {
		const {messages, problem} = await inspectInbox(view);
		if (problem !== undefined) await printNotice(problem);
		failedCount += problem === undefined ? 0 : 1;
		shown.push(messages.map(message => mailMessageToJson(view, message)));
		if (json) continue;
		const older = messages.length - LATEST;
		if (older > 0)
			await writeText(process.stdout, `${older} older messages are not shown. Use --json to print all.\n\n`);
		for (const message of messages.slice(-LATEST))
			await writeText(process.stdout, formatMailMessage(view, message));
		if (messages.length === 0 && problem === undefined)
			await writeText(process.stdout, `No mail for ${view.agent}@${view.team}.\n`);
	}
	if (json) await writeText(process.stdout, prettyJson(shown.flat()));
	return failedCount;
}
