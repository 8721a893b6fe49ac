import type {JsonObject} from '../../util/json.js';
import {printable, shortened} from '../../util/printable.js';
import type {MailMessage} from './types.js';

/** A mail event to report to the client. */
export type MailNotification = {
	readonly type: 'mail' | 'mail_parked';
	readonly identity: string;
	readonly messages: readonly MailMessage[];
	/** The number of unread messages in the inbox, including these. */
	readonly unread: number;
};

const MAX_LISTED = 10;

/**
 * Converts an event to the params of an MCP log notification. Contains the senders but never the texts of
 * messages.
 */
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
