import {matchResponses} from '../../lib/operators/match-responses.js';
import {queueUntilReady} from '../../lib/operators/queue-until-ready.js';
import {rewriteVersion} from '../../lib/operators/rewrite-version.js';
import {Negotiation} from '../../lib/protocol/negotiation.js';
import {opening, VERSION} from '../helpers/bridge.js';
import {converse, readableLog, until} from '../helpers/pipeline.js';

const NEVER = 2 ** 30;

/** A client in front of a gate, which never shakes hands by itself unless there is a grace time. */
export const start = (graceMs = NEVER) => {
	const session = new Negotiation({upstream: 'files'});
	const {log, entries} = readableLog();
	const gate = queueUntilReady({negotiation: session, log, transport: 'stdio', graceMs});
	const ends = converse(
		matchResponses({log, upstream: 'files'}),
		gate,
		rewriteVersion({negotiation: session, log}),
	);
	let isOver = false;
	(ends.upstream.outgoing as unknown as {subscribe(observer: {complete(): void}): void}).subscribe({
		complete() {
			isOver = true;
		},
	});
	return {...ends, session, entries, isOver: () => isOver};
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

/** What the upstream heard, by methods and ids. */
export const heard = ({upstream}: Ends): unknown[] =>
	upstream.received.map(({id, method}) => (id === undefined ? method : `${method} ${id}`));

/** Has bridge shake hands by itself, up to the answer. Returns the id that it chose. */
export async function ownHandshake(ends: Ends): Promise<unknown> {
	await until(() => ends.upstream.received.length > 0);
	return ends.upstream.received[0]?.id;
}
