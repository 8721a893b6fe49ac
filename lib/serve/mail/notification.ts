import type {JsonObject} from '../../util/json.js';
import {printable, shortened} from '../../util/printable.js';
import type {MailMessage} from './types.js';

/** Something about mail that the client may want to know. */
export type MailNotification = {
	readonly type: 'mail' | 'mail_parked';
	readonly identity: string;
	readonly messages: readonly MailMessage[];
	/** How many messages of the inbox are not read, these included. */
	readonly unread: number;
};

/** So many of the messages are named. */
const MAX_LISTED = 10;

/** The news as a message of MCP's log. It says who wrote, and never what: that is for whoever reads the mail. */
export function mailLogParams(
	{type, identity, messages, unread}: MailNotification,
	codexId: string,
): {readonly level: 'info' | 'warning'; readonly logger: string; readonly data: JsonObject} {
	const urgent = messages.filter(({isUrgent}) => isUrgent);
	const listed = [...urgent, ...messages.filter(({isUrgent}) => !isUrgent)].slice(0, MAX_LISTED);
	const data = {
		type,
		identity,
		codex_id: codexId,
		new: messages.length,
		unread,
		urgent: urgent.length,
		messages: listed.map(({id, from, timestamp, isUrgent}) => ({
			message_id: id,
			from: printable(shortened(from)),
			timestamp: printable(shortened(timestamp)),
			...(isUrgent ? {urgent: true} : {}),
		})),
	};
	const isWarning = type === 'mail_parked' || urgent.length > 0;
	return {level: isWarning ? 'warning' : 'info', logger: 'mail', data};
}
