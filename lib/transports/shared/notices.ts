import {Envelope} from '../../envelope.js';
import {BridgeError} from '../../errors.js';
import {objectOf} from '../../protocol/json.js';
import type {Version} from '../../protocol/version.js';

/** What clients are told when a server says other things of itself than before: its lists may be others, too. */
export function listChanges(before: string, after: string): Envelope[] {
	if (before === after) return [];
	const [was, is] = [before, after].map(result => objectOf(objectOf(JSON.parse(result)).capabilities));
	return ['tools', 'prompts', 'resources']
		.filter(what => what in {...was, ...is})
		.map(what => Envelope.fromText(`{"jsonrpc":"2.0","method":"notifications/${what}/list_changed"}`));
}

/** Why nobody can be attached any more. */
export const closing = (name: string): BridgeError =>
	new BridgeError('ERR_SESSION_CLOSED', `${name} is being closed.`, 'Connect again when bridge runs again.');

/** Why a client is ended whose messages were made for another version. */
export const speaksAnother = (name: string, version: Version): BridgeError =>
	new BridgeError(
		'ERR_SESSION_CLOSED',
		`${name} was started again and now speaks ${version}.`,
		'Connect again to speak that with it.',
	);

/** Why a request has no answer. What the server wrote to stderr may be about other clients, and is for the log alone. */
export const restarting = ({code, message, details}: BridgeError, pauseMs: number): BridgeError =>
	new BridgeError(
		code,
		message,
		`It is started again in ${pauseMs / 1000} s; ask again then, if asking twice does no harm.`,
		details,
	);
