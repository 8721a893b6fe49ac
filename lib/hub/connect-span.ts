import type {Log} from '../core/log.js';
import {startSpan, type TracedSpan} from '../core/span.js';
import {connectionFields} from '../protocol/connection-log.js';
import type {Negotiation} from '../protocol/negotiation.js';
import type {Service} from '../upstream/service.js';
import type {JsonObject} from '../util/json.js';

type ConnectedUpstream = {
	readonly negotiation: Negotiation | undefined;
	readonly initializeResult: JsonObject;
	readonly toolCount: number;
};

export function connectSpan(log: Log, {config: {name: server, transport}}: Service): TracedSpan {
	return startSpan(log, 'proxy.connect', {server, type: transport === 'stdio' ? 'stdio' : 'http'});
}

export function reportConnected(
	span: TracedSpan | undefined,
	{config: {name, transport}}: Service,
	{negotiation, initializeResult, toolCount}: ConnectedUpstream,
): void {
	const fields = negotiation && connectionFields(negotiation, transport, initializeResult);
	span?.succeed(`${name} is connected, with ${toolCount} tools.`, {toolCount, ...fields});
}
