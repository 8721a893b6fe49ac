import type {WrapPipelineOptions} from '../../pipelines/wrap.js';
import {wrapStages} from '../../pipelines/wrap.js';
import {converse, readableLog} from './pipeline.js';
import {clientInfo, lastOf, serverInfo} from './version-stages.js';

type Json = {readonly [key: string]: unknown};

/** A client and a server that a test controls, with the stages of `bridge -- COMMAND` between them. */
export function wrapped(options: Partial<WrapPipelineOptions> = {}) {
	const {log, entries} = readableLog();
	const pair = converse(
		...wrapStages({log, upstream: 'files', transport: 'stdio', timeoutMs: 60_000, ...options}),
	);
	const initialize = (protocolVersion = '2025-11-25', capabilities: Json = {}): void =>
		pair.client.send({id: 'i', method: 'initialize', params: {protocolVersion, capabilities, clientInfo}});
	/** Sends the `initialize` result of the server, with these members changed. */
	const respond = (result: Json = {}): void => {
		const fullResult = {protocolVersion: '2025-11-25', capabilities: {tools: {}}, serverInfo, ...result};
		pair.upstream.send({id: lastOf(pair.upstream).id, result: fullResult});
	};
	const initialized = (): void => pair.client.send({method: 'notifications/initialized'});
	const ready = (client: string, server: string, capabilities: Json = {}): void => {
		initialize(client, capabilities);
		respond({protocolVersion: server});
		initialized();
	};
	/** The methods of all messages that the server received. */
	const receivedMethods = (): unknown[] => (pair.upstream.received as Json[]).map(({method}) => method);
	const logged = async (name: string) => (await entries()).filter(({event}) => event === name);
	return {...pair, logged, initialize, respond, initialized, ready, receivedMethods};
}
