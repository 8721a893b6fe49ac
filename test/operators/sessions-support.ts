import {cwd} from 'node:process';
import type {AtmConfig} from '../../lib/atm/types.js';
import {noFigures} from '../../lib/mail/figures.js';
import {addTools} from '../../lib/operators/add-tools.js';
import {audit} from '../../lib/operators/audit.js';
import {injectContext} from '../../lib/operators/inject-context.js';
import {oneTurn} from '../../lib/operators/one-turn.js';
import {type JsonObject, objectOf} from '../../lib/protocol/json.js';
import type {AcceptedCalls} from '../../lib/sessions/accepted-calls.js';
import {Admissions} from '../../lib/sessions/admission.js';
import {Journal} from '../../lib/sessions/journal.js';
import {managementTools} from '../../lib/sessions/management.js';
import {OwnTools} from '../../lib/sessions/own-tool.js';
import {Preparation} from '../../lib/sessions/preparation.js';
import {Registry} from '../../lib/sessions/registry.js';
import {Sessions} from '../../lib/sessions/sessions.js';
import {Summaries} from '../../lib/sessions/summary.js';
import {ownTools} from '../../lib/sessions/tool-schemas.js';
import {TurnRunner} from '../../lib/sessions/turn-runner.js';
import type {AuditEntry} from '../../lib/sessions/types.js';
import {converse, readableLog, until} from './support.js';

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
} as unknown as AtmConfig;

/** The stages of sessions between a client and a Codex that both do what a test says, with all that is kept in memory. */
export async function sessionStages({timeoutMs = 0, stopMs = 50, closeMs = 100} = {}) {
	const {log, entries: logged} = readableLog();
	const written: AuditEntry[] = [];
	const registry = await Registry.open({folder: '/nowhere', team: 'team', log, isPersistent: false});
	const sessions = new Sessions({config, registry, log});
	const summaries = new Summaries('/nowhere');
	const journal = new Journal({write: entry => written.push(entry)}, 'team');
	const runner = new TurnRunner({sessions, summaries, log, journal, timeoutMs, stopMs, closeMs});
	const preparation = new Preparation({config, summaries, log, cwd: cwd()});
	const calls: AcceptedCalls = new Map();
	const child = () => ({isAlive: true, backend: 'fake'});
	const office = {figures: noFigures(), pending: async () => 0};
	const own = managementTools({sessions, runner, journal, child, office});
	const tools = new OwnTools({tools: own, schemas: ownTools, journal, log});
	const pair = converse(
		addTools({tools}),
		injectContext({
			sessions,
			admissions: new Admissions({sessions, preparation}),
			calls,
			journal,
			log,
			refusal: () => runner.death,
		}),
		oneTurn({sessions, runner, calls}),
		audit({journal, requests: runner.requests}),
	);
	const {client, upstream} = pair;
	const call = (id: number, name: string, args: JsonObject): void =>
		client.say({id, method: 'tools/call', params: {name, arguments: args}});
	/** What Codex was asked, in order. */
	const asked = (): JsonObject[] =>
		upstream.heard.filter(({method}) => method === 'tools/call').map(objectOf);
	/** Waits until Codex has been asked so often, and gives the last of it. */
	const nth = async (count: number): Promise<JsonObject> => {
		await until(() => asked().length >= count);
		return asked()[count - 1] ?? {};
	};
	/** Codex answers what it was asked. */
	const answer = ({id}: JsonObject, threadId: string, content: string, meta: JsonObject = {}): void =>
		upstream.say({
			id,
			result: {
				content: [{type: 'text', text: content}],
				structuredContent: {threadId, content},
				_meta: {'io.bridge/turn': {status: 'completed', threadId, ...meta}},
			},
		});
	/** Waits for the result of a call. */
	const result = async (id: number): Promise<JsonObject> => {
		await until(() => client.heard.some(message => message.id === id));
		return objectOf(client.heard.find(message => message.id === id)?.result);
	};
	return {...pair, call, asked, nth, answer, result, sessions, runner, registry, written, logged};
}
