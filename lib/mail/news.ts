import {printable, shortened} from '../printable.js';
import type {JsonObject} from '../protocol/json.js';
import type {Message} from './types.js';

/** Something about mail that the client may want to know. */
export type MailNews = {
	readonly type: 'mail' | 'mail_parked';
	readonly identity: string;
	readonly messages: readonly Message[];
	/** How many messages of the inbox are not read, these included. */
	readonly unread: number;
};

/** So many of the messages are named. */
const MAX_NAMED = 10;

/** The news as a message of MCP's log. It says who wrote, and never what: that is for whoever reads the mail. */
export function newsParams(
	{type, identity, messages, unread}: MailNews,
	codexId: string,
): {readonly level: 'info' | 'warning'; readonly logger: string; readonly data: JsonObject} {
	const urgent = messages.filter(({isUrgent}) => isUrgent);
	const named = [...urgent, ...messages.filter(({isUrgent}) => !isUrgent)].slice(0, MAX_NAMED);
	const data = {
		type,
		identity,
		codex_id: codexId,
		new: messages.length,
		unread,
		urgent: urgent.length,
		messages: named.map(({id, from, timestamp, isUrgent}) => ({
			message_id: id,
			from: printable(shortened(from)),
			timestamp: printable(shortened(timestamp)),
			...(isUrgent ? {urgent: true} : {}),
		})),
	};
	const isSerious = type === 'mail_parked' || urgent.length > 0;
	return {level: isSerious ? 'warning' : 'info', logger: 'mail', data};
}
