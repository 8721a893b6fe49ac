import type {Log} from '../core/log.js';
import {startSpan, type TracedSpan} from '../core/span.js';
import {connectionFields} from '../protocol/connection-log.js';
import type {Negotiation} from '../protocol/negotiation.js';
import type {Service} from '../upstream/service.js';
import type {JsonObject} from '../util/json.js';

/** A connection of the hub to a server: what it connected to, in which session. */
type ConnectedUpstream = {
	readonly negotiation: Negotiation | undefined;
	readonly initializeResult: JsonObject;
	readonly toolCount: number;
};

/** Begins the record of an attempt to connect the hub to a server. */
export function connectSpan(log: Log, {config: {name: server, transport}}: Service): TracedSpan {
	return startSpan(log, 'proxy.connect', {server, type: transport === 'stdio' ? 'stdio' : 'http'});
}

/** Ends it, with what is known of the connection now. */
export function reportConnected(
	attempt: TracedSpan | undefined,
	{config: {name, transport}}: Service,
	{negotiation, initializeResult, toolCount}: ConnectedUpstream,
): void {
	const fields = negotiation && connectionFields(negotiation, transport, initializeResult);
	attempt?.succeed(`${name} is connected, with ${toolCount} tools.`, {toolCount, ...fields});
}
