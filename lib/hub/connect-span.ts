import type {Service} from '../gateway/service.js';
import type {Log} from '../log.js';
import type {JsonObject} from '../protocol/json.js';
import {connectionFields} from '../protocol/report.js';
import type {Session} from '../protocol/session.js';
import {type Span, span} from '../span.js';

/** A connection of the hub to a server: what it connected to, in which session. */
export type Connected = {
	readonly session: Session | undefined;
	readonly greeting: JsonObject;
	readonly toolCount: number;
};

/** Begins the record of an attempt to connect the hub to a server. */
export function connectSpan(log: Log, {config: {name: server, transport}}: Service): Span {
	return span(log, 'proxy.connect', {server, type: transport === 'stdio' ? 'stdio' : 'http'});
}

/** Ends it, with what is known of the connection now. */
export function reportConnected(
	begun: Span | undefined,
	{config: {name, transport}}: Service,
	{session, greeting, toolCount}: Connected,
): void {
	const fields = session && connectionFields(session, transport, greeting);
	begun?.succeed(`${name} is connected, with ${toolCount} tools.`, {toolCount, ...fields});
}
