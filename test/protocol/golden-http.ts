import {takesPriming, toHop, versionProblem} from '../../lib/protocol/http-hop.js';
import type {HandshakeVersion} from '../../lib/protocol/version.js';
import type {Json, Play} from './golden-play.js';

type Http = {
	readonly method: string;
	readonly headers: {readonly [name: string]: string};
	readonly body: unknown;
};

const httpHop: Play = each => {
	const {http} = each.before as {http: Http};
	const {'mcp-session-id': session} = http.headers;
	const hop = {version: each.to as HandshakeVersion, ...(session === undefined ? {} : {session: 'up-9'})};
	return {http: {...http, headers: toHop(http.headers, hop)}};
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
