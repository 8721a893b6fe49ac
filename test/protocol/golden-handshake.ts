import {Translator} from '../../lib/protocol/translator.js';
import type {HandshakeVersion} from '../../lib/protocol/version.js';
import {ProgressTokens} from '../../lib/upstream/share/progress-tokens.js';
import {until} from '../helpers/pipeline.js';
import type {Case} from '../helpers/translation-cases.js';
import {lastOf, versioned} from '../helpers/version-stages.js';
import {before, firstWord, inHandshake, type Json, type Play, ready, say, since} from './golden-play.js';

/** The server answers `initialize`. */
const firstAnswer: Play = each => {
	const pair = versioned();
	const {id} = before(each);
	pair.client.send({
		id,
		method: 'initialize',
		params: {protocolVersion: each.to, capabilities: {}, clientInfo: {}},
	});
	return since(pair.client, () => say(pair.upstream, each.before))[0];
};

/** The translator alone, where no stage of this program would install one. */
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
	say(pair.client, each.before);
	pair.upstream.send({id: 52, result: {task: {taskId: 'T1', status: 'working', pollInterval: 1}}});
	await until(() => lastOf(pair.upstream).method === 'tasks/get');
	pair.upstream.send({id: lastOf(pair.upstream).id, result: {taskId: 'T1', status: 'completed'}});
	return pair.upstream.received.slice(length);
}

/** Cases between versions with a handshake. */
export const handshakeCases: {readonly [name: string]: Play} = {
	'batch-in-other-version-refused': each => {
		const pair = ready({client: each.from, server: each.to});
		return since(pair.client, () => say(pair.client, each.before))[0];
	},
	'batch-join-to-client': each => {
		const pair = ready({client: each.to, server: each.from});
		const questions = Object.entries(each.methods ?? {}).map(([id, method]) => ({
			jsonrpc: '2.0',
			id: Number(id),
			method,
		}));
		say(pair.client, questions);
		return since(pair.client, () => {
			for (const answer of each.before as unknown[]) say(pair.upstream, answer);
		})[0];
	},
	'batch-with-initialize-refused': firstWord(),
	'cancelled-request-id-mapped': each => {
		const pair = ready({client: each.from, server: each.to});
		// Two spellings of one number cannot both be told to a server.
		pair.client.sendText('{"jsonrpc":"2.0","id":5.0,"method":"tools/list"}');
		const [renamed] = since(pair.upstream, () => pair.client.send({id: 5, method: 'tools/list'})) as Json[];
		const [cancelled] = since(pair.upstream, () => say(pair.client, each.before));
		return JSON.parse(JSON.stringify(cancelled).replace(String(renamed?.id), 'c1-5'));
	},
	'completion-method-not-found-to-empty': each => {
		const pair = ready({client: each.to, server: each.from, serverCapabilities: {prompts: {}}});
		pair.client.send({id: 20, method: 'completion/complete', params: {}});
		return since(pair.client, () => say(pair.upstream, each.before))[0];
	},
	'elicitation-shared-upstream-cancelled': translatorAlone({isShared: true}),
	'init-client-asks-modern-version': firstWord(),
	'init-client-missing-version': firstWord(),
	'init-request-target-version': firstWord({targetVersion: '2024-11-05'}),
	'init-response-client-version': firstAnswer,
	'init-response-completions-synthesized': firstAnswer,
	'init-response-extra-fields-pass': firstAnswer,
	'init-response-missing-version': firstAnswer,
	'init-response-unsupported-version': firstAnswer,
	'initialized-notification-pass': inHandshake,
	'progress-token-restored': each => {
		const tokens = new ProgressTokens<string>();
		for (let others = 0; others < 7; others++) tokens.register('somebody', 0);
		const {params, ...rest} = before(each);
		const {progressToken, ...others} = params as Json;
		return {...rest, params: {progressToken: tokens.ownerOf(progressToken)?.token, ...others}};
	},
	'task-required-tool-hidden-poll': pollTask,
	'tool-input-schema-without-type-repaired': translatorAlone(),
};
