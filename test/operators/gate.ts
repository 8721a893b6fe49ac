import {holdUntilReady} from '../../lib/operators/hold-until-ready.js';
import {matchAnswers} from '../../lib/operators/match-answers.js';
import {rewriteVersion} from '../../lib/operators/rewrite-version.js';
import {Session} from '../../lib/protocol/session.js';
import {opening, VERSION} from '../helpers/bridge.js';
import {converse, readableLog, until} from './support.js';

const NEVER = 2 ** 30;

/** A client in front of a gate, which never shakes hands by itself unless there is a grace time. */
export const start = (graceMs = NEVER) => {
	const session = new Session({upstream: 'files'});
	const {log, entries} = readableLog();
	const gate = holdUntilReady({session, log, transport: 'stdio', graceMs});
	const ends = converse(matchAnswers({log, upstream: 'files'}), gate, rewriteVersion({session, log}));
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
	client.say({id, method: 'initialize', params: {...opening, protocolVersion: version}});

/** What the upstream heard, by methods and ids. */
export const heard = ({upstream}: Ends): unknown[] =>
	upstream.heard.map(({id, method}) => (id === undefined ? method : `${method} ${id}`));

/** Has bridge shake hands by itself, up to the answer. Returns the id that it chose. */
export async function ownHandshake(ends: Ends): Promise<unknown> {
	await until(() => ends.upstream.heard.length > 0);
	return ends.upstream.heard[0]?.id;
}
