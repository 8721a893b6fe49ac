import type {ExposeMode} from '../config/schema.js';
import {NEWEST_HANDSHAKE} from '../protocol/version.js';
import type {JsonObject} from '../util/json.js';

type HubInitializeResultOptions = {
	readonly serverNames: readonly string[];
	readonly expose: ExposeMode;
	readonly version: string;
};

/**
 * The hub's result of `initialize`. It is sent before any upstream is connected, so it declares every
 * capability that an upstream may have.
 */
export function hubInitializeResult({serverNames, expose, version}: HubInitializeResultOptions): JsonObject {
	const toolCapabilities = {tools: {listChanged: true}, logging: {}};
	const listCapabilities = {
		resources: {subscribe: true, listChanged: true},
		prompts: {listChanged: true},
		completions: {},
	};
	const toolHints = {
		run: 'Call their tools with run.',
		tools: 'Their tools are named server__tool.',
		both: 'Their tools are named server__tool; run calls several of them at once.',
	};
	return {
		protocolVersion: NEWEST_HANDSHAKE,
		capabilities: expose === 'run' ? toolCapabilities : {...toolCapabilities, ...listCapabilities},
		serverInfo: {name: 'bridge-hub', title: 'bridge hub', version},
		instructions: `Several servers behind one: ${serverNames.join(', ')}. ${toolHints[expose]}`,
	};
}
