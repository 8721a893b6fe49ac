import {Envelope} from './envelope.js';
import {type JsonObject, objectOf} from './protocol/json.js';

/** What a client is told when a server has come back: whatever it lists may be something else now. */
export function listsChanged(initialized: JsonObject): Envelope[] {
	const capabilities = objectOf(initialized.capabilities);
	return ['tools', 'prompts', 'resources']
		.filter(what => what in capabilities)
		.map(what => Envelope.fromText(`{"jsonrpc":"2.0","method":"notifications/${what}/list_changed"}`));
}
