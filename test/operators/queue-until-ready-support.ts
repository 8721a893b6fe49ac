import {matchResponses} from '../../lib/operators/match-responses.js';
import {queueUntilReady} from '../../lib/operators/queue-until-ready.js';
import {rewriteVersion} from '../../lib/operators/rewrite-version.js';
import {Negotiation} from '../../lib/protocol/negotiation.js';
import {opening, VERSION} from '../helpers/bridge.js';
import {converse, readableLog, until} from '../helpers/pipeline.js';

const NEVER = 2 ** 30;

/** Connects a pair through the queue. Without a grace time, bridge never initializes the upstream itself. */
export const start = (graceMs = NEVER) => {
	const negotiation = new Negotiation({upstream: 'files'});
	const {log, entries} = readableLog();
	const queue = queueUntilReady({negotiation, log, transport: 'stdio', graceMs});
	const ends = converse(matchResponses({log, upstream: 'files'}), queue, rewriteVersion({negotiation, log}));
	let hasEnded = false;
	(ends.upstream.outgoing as unknown as {subscribe(observer: {complete(): void}): void}).subscribe({
		complete() {
			hasEnded = true;
		},
	});
	return {...ends, negotiation, entries, hasEnded: () => hasEnded};
};
export type Ends = ReturnType<typeof start>;

export const result = {
	protocolVersion: VERSION,
	capabilities: {tools: {}},
	serverInfo: {name: 'f', version: '1'},
};
export const initialized = {method: 'notifications/initialized'};
export const initialize = ({client}: Ends, id: unknown = 0, version = VERSION): void =>
	client.send({id, method: 'initialize', params: {...opening, protocolVersion: version}});

/** The messages that the upstream received, as methods and ids. */
export const receivedUpstream = ({upstream}: Ends): unknown[] =>
	upstream.received.map(({id, method}) => (id === undefined ? method : `${method} ${id}`));

/** Waits until bridge has sent its own initialize, and returns its id. */
export async function ownInitialize(ends: Ends): Promise<unknown> {
	await until(() => ends.upstream.received.length > 0);
	return ends.upstream.received[0]?.id;
}
