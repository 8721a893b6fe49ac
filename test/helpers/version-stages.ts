import {PendingRequests} from '../../lib/core/requests/pending.js';
import {matchResponses} from '../../lib/operators/match-responses.js';
import {parse} from '../../lib/operators/parse.js';
import {splitBatches} from '../../lib/operators/split-batches.js';
import {Negotiation, type NegotiationOptions} from '../../lib/protocol/negotiation.js';
import {versionStages} from '../../pipelines/wrap.js';
import {converse, readableLog} from './pipeline.js';

type Json = {readonly [key: string]: unknown};

/** A client and a server, with only the stages between them that depend on the protocol version. */
export function versioned(options: Partial<NegotiationOptions> = {}) {
	const {log, entries} = readableLog();
	const session = new Negotiation({upstream: 'files', ...options});
	const pending = new PendingRequests();
	const pair = converse(
		splitBatches({negotiation: session, log}),
		parse({log, from: 'client'}),
		matchResponses({log, upstream: 'files', pending}),
		...versionStages({negotiation: session, log, transport: 'stdio', pending}),
		parse({log, from: 'upstream'}),
	);
	return {...pair, session, entries};
}

export type Pair = ReturnType<typeof versioned>;

export const clientInfo = {name: 'ExampleClient', version: '1.0.0'};
export const serverInfo = {name: 'ExampleServer', version: '1.0.0'};
const META = 'io.modelcontextprotocol/';

export const envelope = (capabilities: Json = {}, more: Json = {}): Json => ({
	[`${META}protocolVersion`]: '2026-07-28',
	[`${META}clientInfo`]: clientInfo,
	[`${META}clientCapabilities`]: capabilities,
	...more,
});

export const lastOf = ({received}: {readonly received: readonly unknown[]}): Json =>
	(received.at(-1) ?? {}) as Json;

export type Setting = {
	/** The version of the client. With the stateless version, it does not initialize. */
	readonly client: string;
	readonly server: string;
	readonly clientCapabilities?: Json;
	readonly serverCapabilities?: Json;
	readonly isInitialized?: boolean;
};

/** Completes the handshake, or a discovery if the client is stateless. */
export function shakeHands(pair: Pair, setting: Setting): void {
	const {client, server, clientCapabilities = {}, isInitialized = true} = setting;
	if (client === '2026-07-28')
		pair.client.send({id: 'pre', method: 'server/discover', params: {_meta: envelope(clientCapabilities)}});
	else
		pair.client.send({
			id: 'pre',
			method: 'initialize',
			params: {protocolVersion: client, capabilities: clientCapabilities, clientInfo},
		});
	answerHandshake(pair, server, setting.serverCapabilities);
	if (client !== '2026-07-28' && isInitialized) pair.client.send({method: 'notifications/initialized'});
}

/** Sends the server's responses. A stateless server rejects `initialize` first. */
export function answerHandshake({upstream}: Pair, server: string, capabilities: Json = {tools: {}}): void {
	const {id, method} = lastOf(upstream);
	if (server !== '2026-07-28') {
		upstream.send({id, result: {protocolVersion: server, capabilities, serverInfo, instructions: 'Use it.'}});
		return;
	}
	const data = {requested: '2025-11-25', supported: ['2026-07-28']};
	if (method === 'initialize')
		upstream.send({id, error: {code: -32022, message: 'Unsupported protocol version', data}});
	const result = {
		resultType: 'complete',
		supportedVersions: ['2026-07-28'],
		capabilities,
		instructions: 'hi',
		ttlMs: 0,
		cacheScope: 'private',
		_meta: {[`${META}serverInfo`]: serverInfo},
	};
	upstream.send({id: lastOf(upstream).id, result});
}
