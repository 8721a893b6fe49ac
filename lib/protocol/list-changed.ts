import {Envelope} from '../core/envelope.js';
import {type JsonObject, objectOf} from '../util/json.js';

/** The notifications for a client after a reconnect: every list of the upstream may have changed. */
export function listChangedNotifications(initializeResult: JsonObject): Envelope[] {
	const capabilities = objectOf(initializeResult.capabilities);
	return ['tools', 'prompts', 'resources']
		.filter(list => list in capabilities)
		.map(list => Envelope.fromText(`{"jsonrpc":"2.0","method":"notifications/${list}/list_changed"}`));
}
