import type {Envelope} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {listChangedNotifications} from '../../protocol/list-changed.js';
import {objectOf} from '../../util/json.js';
import {memberText} from '../../wire/member.js';

/** The list-changed notifications for clients of an upstream whose initialize result has changed. */
export function listChangesBetween(before: string, after: string): Envelope[] {
	if (before === after) return [];
	const [was, is] = [before, after].map(result => objectOf(objectOf(JSON.parse(result)).capabilities));
	return listChangedNotifications({capabilities: {...was, ...is}});
}

export const closingError = (name: string): BridgeError =>
	new BridgeError(
		'ERR_SESSION_CLOSED',
		`${name} is being closed.`,
		'Connect again when bridge has been restarted.',
	);

export const hasVersionChanged = (before: string, after: string): boolean =>
	memberText(Buffer.from(before), 'protocolVersion') !== memberText(Buffer.from(after), 'protocolVersion');
