import type {Envelope} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {listChangedNotifications} from '../../protocol/list-changed.js';
import {objectOf} from '../../util/json.js';
import {memberText} from '../../wire/member.js';

/** What clients are told when a server says other things of itself than before: its lists may be others, too. */
export function listChangesBetween(before: string, after: string): Envelope[] {
	if (before === after) return [];
	const [was, is] = [before, after].map(result => objectOf(objectOf(JSON.parse(result)).capabilities));
	return listChangedNotifications({capabilities: {...was, ...is}});
}

/** Why nobody can be attached any more. */
export const closingError = (name: string): BridgeError =>
	new BridgeError('ERR_SESSION_CLOSED', `${name} is being closed.`, 'Connect again when bridge runs again.');

/** Whether two results of `initialize` are of different versions. */
export const hasVersionChanged = (before: string, after: string): boolean =>
	memberText(Buffer.from(before), 'protocolVersion') !== memberText(Buffer.from(after), 'protocolVersion');
