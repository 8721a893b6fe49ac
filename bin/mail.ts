import process from 'node:process';
import {ago} from '../lib/ago.js';
import type {AtmConfig} from '../lib/atm/types.js';
import {asJson, asText, type InboxView, inboxesOf, lookInto} from '../lib/mail/look.js';
import {readTeam, teamNames} from '../lib/mail/roster.js';
import {textTable} from '../lib/text-table.js';
import type {Flags} from './flags.js';
import {follow} from './follow-mail.js';
import {atmConfig, jsonText, tell, write} from './own-output.js';
import type {Stop} from './signals.js';
import {invalid} from './values.js';

/** How many of an inbox's messages are shown. */
const LATEST = 20;

/** `bridge mail`: the inboxes of teams, what is in one of them, and what arrives. Nothing is marked as read. */
export async function runMail(flags: Flags, stop: Stop): Promise<number> {
	const {config, warnings} = await atmConfig(flags, flags.config);
	for (const warning of warnings) await tell(warning);
	const views = await viewsFor(config, flags);
	const problems = await (flags.companion.isFollowing
		? follow(() => viewsFor(config, flags), flags, stop)
		: flags.session.identity === undefined
			? showInboxes(views, flags)
			: showMessages(views, flags));
	return problems > 0 ? 1 : 0;
}

/** The inboxes that are meant. A team or an agent that was named has to be there. */
async function viewsFor(config: AtmConfig, {session}: Flags): Promise<InboxView[]> {
	const {claude, team} = config;
	if (session.team !== undefined) await readTeam(claude, team);
	const teams = session.team === undefined ? await teamNames(claude) : [team];
	const all = (await Promise.all(teams.map(name => inboxesOf(claude, name)))).flat();
	const {identity} = session;
	if (identity === undefined) return all;
	const own = all.filter(({agent}) => agent === identity);
	if (own.length > 0) return own;
	const names = [...new Set(all.map(({agent}) => agent))].join(', ');
	throw invalid(
		`There is no inbox of ${identity}.`,
		names === '' ? 'There are none at all.' : `There are ${names}.`,
	);
}

async function showInboxes(views: readonly InboxView[], {companion}: Flags): Promise<number> {
	const looked = await Promise.all(views.map(async view => ({...view, ...(await lookInto(view))})));
	const rows = looked.map(({team, agent, isMember, messages, skipped, problem}) => ({
		...{team, agent, member: isMember, unread: messages.filter(({isRead}) => !isRead).length},
		...{total: messages.length, skipped, last: messages.at(-1)?.timestamp ?? null},
		...{last_from: messages.at(-1)?.from ?? null, problem: problem ?? null},
	}));
	if (companion.isJson) await write(process.stdout, jsonText(rows));
	else if (rows.length === 0) await write(process.stdout, 'There are no inboxes.\n');
	else
		await write(
			process.stdout,
			textTable(
				['TEAM', 'AGENT', 'UNREAD', 'TOTAL', 'LAST', 'FROM', 'NOTE'],
				rows.map(row => [
					...[row.team, row.agent, row.problem === null ? String(row.unread) : '?', String(row.total)],
					...[row.last === null ? '-' : ago(row.last), row.last_from ?? '-'],
					row.problem ?? (row.member ? '' : 'not on the team'),
				]),
			),
		);
	return rows.filter(({problem}) => problem !== null).length;
}

async function showMessages(views: readonly InboxView[], {companion}: Flags): Promise<number> {
	const shown: object[][] = [];
	let problems = 0;
	for (const view of views) {
		const {messages, problem} = await lookInto(view);
		if (problem !== undefined) await tell(problem);
		problems += problem === undefined ? 0 : 1;
		shown.push(messages.map(message => asJson(view, message)));
		if (companion.isJson) continue;
		const older = messages.length - LATEST;
		if (older > 0)
			await write(process.stdout, `${older} older messages are left out; --json has them all.\n\n`);
		for (const message of messages.slice(-LATEST)) await write(process.stdout, asText(view, message));
		if (messages.length === 0 && problem === undefined)
			await write(process.stdout, `There is no mail for ${view.agent}@${view.team}.\n`);
	}
	if (companion.isJson) await write(process.stdout, jsonText(shown.flat()));
	return problems;
}
