import type {WrapPipelineOptions} from '../../pipelines/wrap.js';
import {wrapStages} from '../../pipelines/wrap.js';
import {converse, readableLog} from './pipeline.js';
import {clientInfo, lastOf, serverInfo} from './version-stages.js';

type Json = {readonly [key: string]: unknown};

/** A client in front of one server, as `bridge -- COMMAND` puts it there, with both in the hands of a test. */
export function wrapped(options: Partial<WrapPipelineOptions> = {}) {
	const {log, entries} = readableLog();
	const pair = converse(
		...wrapStages({log, upstream: 'files', transport: 'stdio', timeoutMs: 60_000, ...options}),
	);
	const initialize = (protocolVersion = '2025-11-25', capabilities: Json = {}): void =>
		pair.client.send({id: 'i', method: 'initialize', params: {protocolVersion, capabilities, clientInfo}});
	const answer = (result: Json = {}): void => {
		const whole = {protocolVersion: '2025-11-25', capabilities: {tools: {}}, serverInfo, ...result};
		pair.upstream.send({id: lastOf(pair.upstream).id, result: whole});
	};
	const initialized = (): void => pair.client.send({method: 'notifications/initialized'});
	const ready = (client: string, server: string, capabilities: Json = {}): void => {
		initialize(client, capabilities);
		answer({protocolVersion: server});
		initialized();
	};
	/** The methods of all that the server has heard. */
	const asked = (): unknown[] => (pair.upstream.received as Json[]).map(({method}) => method);
	/** What was logged under this name. */
	const logged = async (name: string) => (await entries()).filter(({event}) => event === name);
	return {...pair, logged, initialize, answer, initialized, ready, asked};
}
