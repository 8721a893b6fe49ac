import {Envelope} from '../core/envelope.js';
import {type JsonObject, objectOf} from '../util/json.js';

/** What a client is told when a server has come back: whatever it lists may be something else now. */
export function listChangedNotifications(initializeResult: JsonObject): Envelope[] {
	const capabilities = objectOf(initializeResult.capabilities);
	return ['tools', 'prompts', 'resources']
		.filter(list => list in capabilities)
		.map(list => Envelope.fromText(`{"jsonrpc":"2.0","method":"notifications/${list}/list_changed"}`));
}
