import {cwd} from 'node:process';
import type {ServeConfig} from '../../../lib/serve/config/types.js';
import {createMailCounters} from '../../../lib/serve/mail/counters.js';
import type {AcceptedCalls} from '../../../lib/serve/sessions/accepted-calls.js';
import {AuditLog} from '../../../lib/serve/sessions/audit-log.js';
import {BridgeTools} from '../../../lib/serve/sessions/bridge-tools.js';
import {CallPreparer} from '../../../lib/serve/sessions/call-preparer.js';
import {CodexSessions} from '../../../lib/serve/sessions/codex-sessions.js';
import {managementTools} from '../../../lib/serve/sessions/management-tools.js';
import {SessionRegistry} from '../../../lib/serve/sessions/session-registry.js';
import {SessionRouter} from '../../../lib/serve/sessions/session-router.js';
import {SessionSummaries} from '../../../lib/serve/sessions/session-summaries.js';
import {bridgeToolSchemas} from '../../../lib/serve/sessions/tool-schemas.js';
import {TurnRunner} from '../../../lib/serve/sessions/turn-runner.js';
import type {AuditEntry} from '../../../lib/serve/sessions/types.js';
import {addTools} from '../../../lib/serve/stages/add-tools.js';
import {audit} from '../../../lib/serve/stages/audit.js';
import {injectContext} from '../../../lib/serve/stages/inject-context.js';
import {runTurns} from '../../../lib/serve/stages/run-turns.js';
import {type JsonObject, objectOf} from '../../../lib/util/json.js';
import {converse, readableLog, until} from '../../helpers/pipeline.js';

const config = {
	team: 'team',
	identity: 'codex',
	base: '/nowhere',
	claude: '/nowhere/.claude',
	codexBin: 'codex',
	role: undefined,
	roles: new Map(),
	trustedDirectories: [],
	model: undefined,
	sandbox: undefined,
	approvalPolicy: undefined,
	reasoningEffort: undefined,
	maxConcurrentThreads: 3,
	maxQueuedTurns: 2,
	contextOnReply: false,
	agentFileAs: 'prompt',
} as unknown as ServeConfig;

/** Runs the session stages, in memory only, between a client and a Codex that the test controls. */
export async function sessionStages({timeoutMs = 0, stopMs = 50, closeMs = 100} = {}) {
	const {log, entries: logged} = readableLog();
	const written: AuditEntry[] = [];
	const registry = await SessionRegistry.open({folder: '/nowhere', team: 'team', log, isPersistent: false});
	const sessions = new CodexSessions({config, registry, log});
	const summaries = new SessionSummaries('/nowhere');
	const auditLog = new AuditLog({write: entry => written.push(entry)}, 'team');
	const runner = new TurnRunner({
		sessions,
		summaries,
		log,
		auditLog,
		timeoutMs,
		stopTimeoutMs: stopMs,
		closeTimeoutMs: closeMs,
	});
	const callPreparer = new CallPreparer({config, summaries, log, cwd: cwd()});
	const calls: AcceptedCalls = new Map();
	const codexState = () => ({isAlive: true, backend: 'fake'});
	const mailScheduler = {counters: createMailCounters(), pending: async () => 0};
	const ownTools = managementTools({sessions, runner, auditLog, codexState, mailScheduler});
	const tools = new BridgeTools({tools: ownTools, schemas: bridgeToolSchemas, auditLog, log});
	const pair = converse(
		addTools({tools}),
		injectContext({
			sessions,
			sessionRouter: new SessionRouter({sessions, callPreparer}),
			calls,
			auditLog,
			log,
			rejection: () => runner.exitError,
		}),
		runTurns({sessions, runner, calls}),
		audit({auditLog, requests: runner.requests}),
	);
	const {client, upstream} = pair;
	const call = (id: number, name: string, args: JsonObject): void =>
		client.send({id, method: 'tools/call', params: {name, arguments: args}});
	const codexCalls = (): JsonObject[] =>
		upstream.received.filter(({method}) => method === 'tools/call').map(objectOf);
	/** Waits for the nth call to Codex, counted from 1. */
	const nthCall = async (count: number): Promise<JsonObject> => {
		await until(() => codexCalls().length >= count);
		return codexCalls()[count - 1] ?? {};
	};
	/** Sends the response of Codex to a call. */
	const respond = ({id}: JsonObject, threadId: string, content: string, meta: JsonObject = {}): void =>
		upstream.send({
			id,
			result: {
				content: [{type: 'text', text: content}],
				structuredContent: {threadId, content},
				_meta: {'io.bridge/turn': {status: 'completed', threadId, ...meta}},
			},
		});
	/** Waits for the result of a client's call. */
	const result = async (id: number): Promise<JsonObject> => {
		await until(() => client.received.some(message => message.id === id));
		return objectOf(client.received.find(message => message.id === id)?.result);
	};
	return {...pair, call, nthCall, respond, result, sessions, runner, registry, written, logged};
}
