import {Translator} from '../../lib/protocol/translator.js';
import type {HandshakeVersion} from '../../lib/protocol/version.js';
import {ProgressTokens} from '../../lib/upstream/share/progress-tokens.js';
import {until} from '../helpers/pipeline.js';
import type {Case} from '../helpers/translation-cases.js';
import {lastOf, versioned} from '../helpers/version-stages.js';
import {
	before,
	firstMessage,
	inHandshake,
	type Json,
	type Play,
	ready,
	sendJson,
	since,
} from './golden-play.js';

const initializeResponse: Play = each => {
	const pair = versioned();
	const {id} = before(each);
	pair.client.send({
		id,
		method: 'initialize',
		params: {protocolVersion: each.to, capabilities: {}, clientInfo: {}},
	});
	return since(pair.client, () => sendJson(pair.upstream, each.before))[0];
};

/** Runs the translator alone, for cases in which no stage would install one. */
const translatorAlone =
	(options: {isShared?: boolean} = {}): Play =>
	each => {
		const [client, upstream] = [each.to, each.from] as HandshakeVersion[] as [
			HandshakeVersion,
			HandshakeVersion,
		];
		const kind = 'method' in before(each) ? 'request' : 'result';
		const translator = new Translator({client, upstream, ...options});
		const outcome = translator.translate(
			'toClient',
			kind,
			each.method ?? '',
			before(each),
			String(before(each).id),
		);
		return outcome?.forward ?? outcome?.reply;
	};

async function pollTask(each: Case): Promise<unknown> {
	const tasks = {requests: {tools: {call: {}}}};
	const pair = ready({client: each.from, server: each.to, serverCapabilities: {tools: {}, tasks}});
	pair.client.send({id: 1, method: 'tools/list'});
	const tool = {name: 'long_job', inputSchema: {type: 'object'}, execution: {taskSupport: 'required'}};
	pair.upstream.send({id: 1, result: {tools: [tool]}});
	const {length} = pair.upstream.received;
	sendJson(pair.client, each.before);
	pair.upstream.send({id: 52, result: {task: {taskId: 'T1', status: 'working', pollInterval: 1}}});
	await until(() => lastOf(pair.upstream).method === 'tasks/get');
	pair.upstream.send({id: lastOf(pair.upstream).id, result: {taskId: 'T1', status: 'completed'}});
	return pair.upstream.received.slice(length);
}

export const handshakeCases: {readonly [name: string]: Play} = {
	'batch-in-other-version-refused': each => {
		const pair = ready({client: each.from, server: each.to});
		return since(pair.client, () => sendJson(pair.client, each.before))[0];
	},
	'batch-join-to-client': each => {
		const pair = ready({client: each.to, server: each.from});
		const requests = Object.entries(each.methods ?? {}).map(([id, method]) => ({
			jsonrpc: '2.0',
			id: Number(id),
			method,
		}));
		sendJson(pair.client, requests);
		return since(pair.client, () => {
			for (const response of each.before as unknown[]) sendJson(pair.upstream, response);
		})[0];
	},
	'batch-with-initialize-refused': firstMessage(),
	'cancelled-request-id-mapped': each => {
		const pair = ready({client: each.from, server: each.to});
		// A server cannot distinguish two notations of one number, so the second id is replaced.
		pair.client.sendText('{"jsonrpc":"2.0","id":5.0,"method":"tools/list"}');
		const [renamed] = since(pair.upstream, () => pair.client.send({id: 5, method: 'tools/list'})) as Json[];
		const [cancelled] = since(pair.upstream, () => sendJson(pair.client, each.before));
		return JSON.parse(JSON.stringify(cancelled).replace(String(renamed?.id), 'c1-5'));
	},
	'completion-method-not-found-to-empty': each => {
		const pair = ready({client: each.to, server: each.from, serverCapabilities: {prompts: {}}});
		pair.client.send({id: 20, method: 'completion/complete', params: {}});
		return since(pair.client, () => sendJson(pair.upstream, each.before))[0];
	},
	'elicitation-shared-upstream-cancelled': translatorAlone({isShared: true}),
	'init-client-asks-modern-version': firstMessage(),
	'init-client-missing-version': firstMessage(),
	'init-request-target-version': firstMessage({targetVersion: '2024-11-05'}),
	'init-response-client-version': initializeResponse,
	'init-response-completions-synthesized': initializeResponse,
	'init-response-extra-fields-pass': initializeResponse,
	'init-response-missing-version': initializeResponse,
	'init-response-unsupported-version': initializeResponse,
	'initialized-notification-pass': inHandshake,
	'progress-token-restored': each => {
		const tokens = new ProgressTokens<string>();
		for (let others = 0; others < 7; others++) tokens.register('other', 0);
		const {params, ...rest} = before(each);
		const {progressToken, ...others} = params as Json;
		return {...rest, params: {progressToken: tokens.ownerOf(progressToken)?.token, ...others}};
	},
	'task-required-tool-hidden-poll': pollTask,
	'tool-input-schema-without-type-repaired': translatorAlone(),
};
