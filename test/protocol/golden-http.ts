import type {ExecutionContext} from 'ava';
import {Subject} from 'rxjs';
import {bridgeOrigin, Envelope} from '../../lib/core/envelope.js';
import {createLog} from '../../lib/core/log.js';
import {memoryEndpoint} from '../../lib/core/memory-endpoint.js';
import {connect} from '../../lib/core/stage.js';
import {injectSession} from '../../lib/operators/inject-session.js';
import {headersFor, normalizeHeaders} from '../../lib/operators/normalize-headers.js';
import {Negotiation} from '../../lib/protocol/negotiation.js';
import type {HandshakeVersion} from '../../lib/protocol/version.js';
import {type Message, opening} from '../helpers/bridge.js';
import {type RunningGateway, startGateway} from '../helpers/gateway.js';
import {startUpstream, stream, type Upstream} from '../helpers/upstream.js';
import type {Play} from './golden-play.js';

const quiet = createLog({level: 'error', write: () => {}, isPretty: false});

type Http = {
	readonly method: string;
	readonly headers: {readonly [name: string]: string};
	readonly body: unknown;
};

/** Sends a client message in a session of its own, whose id differs from that of the upstream session. */
const httpHop: Play = each => {
	const {http} = each.before as {http: Http};
	const session = new Negotiation({upstream: 'server'});
	const [client, server] = [memoryEndpoint('client'), memoryEndpoint('server')];
	const forwarded: Envelope[] = [];
	const stages = [
		normalizeHeaders(headersFor({negotiation: session})),
		injectSession({upstream: 'server', log: quiet, nextRequestId: () => session.nextRequestId()}),
	];
	const sessionHeaders =
		http.headers['mcp-session-id'] === undefined ? {} : {headers: {'mcp-session-id': 'up-9'}};
	const outgoing = {next: (one: Envelope) => void forwarded.push(one), error: () => {}, complete: () => {}};
	const responses = new Subject<Envelope>();
	connect(client, stages, {...server, incoming: responses, outgoing});
	client.sendText('{"jsonrpc":"2.0","id":0,"method":"initialize"}');
	responses.next(
		Envelope.fromText('{"jsonrpc":"2.0","id":0,"result":{}}', {...bridgeOrigin, ...sessionHeaders}),
	);
	session.setUpstreamVersion(each.to as HandshakeVersion);
	client.sendText(JSON.stringify(http.body));
	const [, sent] = forwarded;
	const kept = Object.entries(sent?.headers ?? {}).filter(([name]) => name in http.headers);
	return {http: {...http, headers: Object.fromEntries(kept), body: sent?.body}};
};

async function throughGateway<T>(
	act: (gateway: RunningGateway, upstream: Upstream) => Promise<T>,
): Promise<T> {
	const endings: Array<() => unknown> = [];
	const context = {teardown: (end: () => unknown) => void endings.push(end)} as unknown as ExecutionContext;
	try {
		const upstream = await startUpstream(context);
		return await act(await startGateway(context, {servers: {server: {url: upstream.url}}}), upstream);
	} finally {
		for (const end of endings.reverse()) await end();
	}
}

const httpRejected: Play = each =>
	throughGateway(async gateway => {
		const {http} = each.before as {http: Http};
		const session = await gateway.open('server');
		const headers = {...http.headers, ...session.headers};
		const {status, headers: replyHeaders, text} = await gateway.post('server', http.body as Message, headers);
		return {
			http: {status, headers: {'content-type': replyHeaders.get('content-type')}, body: JSON.parse(text)},
		};
	});

const priming: Play = each =>
	throughGateway(async (gateway, upstream) => {
		const {sse} = each.before as {sse: ReadonlyArray<{id: string; retry?: number; data: unknown}>};
		const [response] = sse.flatMap(({data}) => (data === '' ? [] : [data as Message]));
		upstream.version = each.from;
		upstream.mood = met => {
			const lines = sse.map(({id, retry, data}) => [
				`id: ${id}`,
				...(retry === undefined ? [] : [`retry: ${retry}`]),
				`data: ${data === '' ? '' : JSON.stringify(data)}`,
			]);
			const isMatch = met.message.method === each.method;
			if (isMatch) stream(met, ...lines.map(event => `${event.join('\n')}\n\n`)).end();
			return isMatch;
		};
		const params = {...opening, protocolVersion: each.to};
		const opened = await gateway.post('server', {id: 0, method: 'initialize', params});
		const headers = {'mcp-session-id': opened.headers.get('mcp-session-id') ?? ''};
		await gateway.post('server', {method: 'notifications/initialized'}, headers);
		const request = {id: response?.id, method: each.method ?? ''};
		const {text} = await gateway.post('server', request, {...headers, accept: 'text/event-stream'});
		const events = text.split('\n\n').filter(event => event !== '');
		const dataOf = (event: string): unknown => JSON.parse(/^data: ?(.+)$/m.exec(event)?.[1] ?? '""');
		return {sse: events.map((event, at) => ({id: `down_${at + 1}`, data: dataOf(event)}))};
	});

export const httpCases: {readonly [name: string]: Play} = {
	'http-unsupported-version-header': httpRejected,
	'http-version-header-for-2025-03-26': httpHop,
	'http-version-header-rewritten': httpHop,
	'sse-priming-only-for-2025-11-25': priming,
};
