import {readdir} from 'node:fs/promises';
import {BridgeError} from '../../core/errors.js';
import {printable} from '../../util/printable.js';
import {isSafeName} from '../names.js';
import {MailInbox} from './inbox.js';
import {inboxFolder} from './paths.js';
import {findTeam} from './roster.js';
import type {InboxContent, MailMessage} from './types.js';

/** An inbox for read-only commands. */
export type InboxView = {
	readonly team: string;
	readonly agent: string;
	/** Whether its owner is on the roster. */
	readonly isMember: boolean;
	readonly inbox: MailInbox;
};

/** The content of an inbox, or the reason why it cannot be read. */
type InboxInspection = InboxContent & {readonly problem: string | undefined};

/** The inboxes of a team: those of its members, and leftover ones of former members. */
export async function listInboxes(claude: string, team: string): Promise<InboxView[]> {
	const foundTeam = await findTeam(claude, team).catch(() => undefined);
	const members = new Set(foundTeam?.members.map(({name}) => name));
	const files = await readdir(inboxFolder(claude, team)).catch(() => []);
	const owners = files.filter(name => name.endsWith('.json')).map(name => name.slice(0, -'.json'.length));
	const agents = [...new Set([...members, ...owners.filter(isSafeName).sort()])];
	return agents.map(agent => ({
		team,
		agent,
		isMember: members.has(agent),
		inbox: new MailInbox(claude, {agent, team}),
	}));
}

/** Reads an inbox. Returns an error as `problem`, so that an unreadable inbox does not look empty. */
export async function inspectInbox({inbox}: InboxView): Promise<InboxInspection> {
	try {
		return {...(await inbox.read()), problem: undefined};
	} catch (error) {
		const problem = error instanceof BridgeError ? error.message : (error as Error).message;
		return {messages: [], skipped: 0, problem};
	}
}

export const mailMessageToJson = ({team, agent}: InboxView, message: MailMessage): object => ({
	team,
	to: agent,
	from: message.from,
	text: message.text,
	timestamp: message.timestamp,
	message_id: message.id,
	read: message.isRead,
	summary: message.summary ?? null,
	source_team: message.sourceTeam ?? null,
	urgent: message.isUrgent,
	type: message.type ?? null,
});

/** Formats a message for a terminal. Control characters are escaped. */
export function formatMailMessage({team, agent}: InboxView, message: MailMessage): string {
	const {from, sourceTeam, timestamp, isRead, isUrgent, text} = message;
	const sender = sourceTeam === undefined || sourceTeam === team ? from : `${from}@${sourceTeam}`;
	const notes = [...(isRead ? [] : ['unread']), ...(isUrgent ? ['urgent'] : [])];
	const head = [
		timestamp,
		`${sender} → ${agent}@${team}`,
		...(notes.length > 0 ? [`(${notes.join(', ')})`] : []),
	];
	const lines = text.split('\n').map(line => `  ${printable(line)}`);
	return `${printable(head.join('  '))}\n${lines.join('\n')}\n\n`;
}
