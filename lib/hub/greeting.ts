import type {Expose} from '../config/schema.js';
import type {JsonObject} from '../protocol/json.js';
import {NEWEST_HANDSHAKE} from '../protocol/version.js';

export type GreetingFacts = {
	/** The names of its servers. */
	readonly servers: readonly string[];
	readonly expose: Expose;
	readonly version: string;
};

/** What the hub says of itself. It is said before any server has been heard of, so it names what there may be. */
export function greetingOf({servers, expose, version}: GreetingFacts): JsonObject {
	const tools = {tools: {listChanged: true}, logging: {}};
	const lists = {
		resources: {subscribe: true, listChanged: true},
		prompts: {listChanged: true},
		completions: {},
	};
	const how = {
		run: 'Call their tools with run.',
		tools: 'Their tools are named server__tool.',
		both: 'Their tools are named server__tool; run calls several of them at once.',
	};
	return {
		protocolVersion: NEWEST_HANDSHAKE,
		capabilities: expose === 'run' ? tools : {...tools, ...lists},
		serverInfo: {name: 'bridge-hub', title: 'bridge hub', version},
		instructions: `Several servers behind one: ${servers.join(', ')}. ${how[expose]}`,
	};
}
