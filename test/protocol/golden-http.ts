import {Subject} from 'rxjs';
import {Envelope, local} from '../../lib/envelope.js';
import {createLog} from '../../lib/log.js';
import {injectSession} from '../../lib/operators/inject-session.js';
import {normaliseHeaders} from '../../lib/operators/normalise-headers.js';
import {takesPriming, versionProblem} from '../../lib/protocol/http-hop.js';
import {Session} from '../../lib/protocol/session.js';
import type {HandshakeVersion} from '../../lib/protocol/version.js';
import {connect} from '../../lib/stage.js';
import {memory} from '../../lib/transports/memory.js';
import type {Json, Play} from './golden-play.js';

const quiet = createLog({level: 'error', write: () => {}, isPretty: false});

type Http = {
	readonly method: string;
	readonly headers: {readonly [name: string]: string};
	readonly body: unknown;
};

/** A message of a client in a session of its own, to a server that has given another id to its session. */
const httpHop: Play = each => {
	const {http} = each.before as {http: Http};
	const session = new Session({upstream: 'server'});
	const [client, server] = [memory('client'), memory('server')];
	const heard: Envelope[] = [];
	const stages = [
		normaliseHeaders({session}),
		injectSession({upstream: 'server', log: quiet, ownId: () => session.ownId()}),
	];
	const greeted = http.headers['mcp-session-id'] === undefined ? {} : {headers: {'mcp-session-id': 'up-9'}};
	const outgoing = {next: (one: Envelope) => void heard.push(one), error: () => {}, complete: () => {}};
	const answers = new Subject<Envelope>();
	connect(client, stages, {...server, incoming: answers, outgoing});
	client.sayText('{"jsonrpc":"2.0","id":0,"method":"initialize"}');
	answers.next(Envelope.fromText('{"jsonrpc":"2.0","id":0,"result":{}}', {...local, ...greeted}));
	session.upstreamBecame(each.to as HandshakeVersion);
	client.sayText(JSON.stringify(http.body));
	const [, sent] = heard;
	const kept = Object.entries(sent?.headers ?? {}).filter(([name]) => name in http.headers);
	return {http: {...http, headers: Object.fromEntries(kept), body: sent?.body}};
};

const httpRefused: Play = each => {
	const {http} = each.before as {http: Http};
	const message = versionProblem(http.headers['mcp-protocol-version']);
	const body = {jsonrpc: '2.0', id: (http.body as Json).id, error: {code: -32600, message}};
	return {http: {status: 400, headers: {'content-type': 'application/json'}, body}};
};

const priming: Play = each => {
	const {sse} = each.before as {sse: ReadonlyArray<{data: unknown}>};
	const events = sse.filter(({data}) => data !== '' || takesPriming(each.to as HandshakeVersion));
	return {sse: events.map(({data}, at) => ({id: `down_${at + 1}`, data}))};
};

/** Cases that are about what HTTP has around messages. */
export const httpCases: {readonly [name: string]: Play} = {
	'http-unsupported-version-header': httpRefused,
	'http-version-header-for-2025-03-26': httpHop,
	'http-version-header-rewritten': httpHop,
	'sse-priming-only-for-2025-11-25': priming,
};
