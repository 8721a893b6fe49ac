import process from 'node:process';
import {BoundedMap} from '../bounded-map.js';
import {Envelope} from '../envelope.js';
import type {Log} from '../log.js';
import {ownInfo} from '../own-version.js';
import {type JsonObject, objectOf} from '../protocol/json.js';
import {type Answer, type Outlets, type Stage, type Steps, stage} from '../stage.js';
import {memberText} from '../wire/member.js';
import {appQuestion} from './app-approvals.js';
import {AppAsker} from './app-asker.js';
import {appHappening, changedFiles, startedAgents, unwanted} from './app-events.js';
import {AppTurns} from './app-turns.js';
import {Approvals, canBeAsked} from './approvals.js';
import {type Call, text} from './call.js';
import type {CodexStageOptions} from './mcp-server.js';
import {Reports} from './reports.js';
import {answerHere, initialized, isTurn, tooEarly, twice} from './requests.js';
import {tools} from './tools.js';
import {Turns} from './turns.js';

export type AppServerOptions = CodexStageOptions & {
	/** The folder that Codex runs in; this process's own unless told. */
	readonly cwd?: string | undefined;
};

/** Makes `codex app-server` a server of MCP, with the tools that `codex mcp-server` had. */
export const appServer = (options: AppServerOptions): Stage => stage(out => new AppServer(options, out));

/** Changes of files that are remembered; the oldest is forgotten for the next. */
const MAX_CHANGES = 1000;
/** Agents whose sessions are known; the oldest is evicted. */
const MAX_AGENTS = 10_000;

class AppServer implements Steps {
	readonly #out: Outlets;
	readonly #log: Log;
	readonly #asker: AppAsker;
	readonly #reports: Reports;
	readonly #approvals: Approvals;
	readonly #app: AppTurns;
	readonly #turns: Turns;
	/** Of changes that may be asked about. */
	readonly #files = new BoundedMap<unknown, readonly string[]>(MAX_CHANGES);
	/** The threads of agents that turns have started, each with the thread of its session. */
	readonly #roots = new BoundedMap<string, string>(MAX_AGENTS);
	#isInitialized = false;
	#isReady = false;

	constructor({log, approvalMs, cwd = process.cwd(), ...limits}: AppServerOptions, out: Outlets) {
		this.#out = out;
		this.#log = log;
		this.#asker = new AppAsker(out);
		this.#reports = new Reports(out);
		this.#approvals = new Approvals({out, reports: this.#reports, log, approvalMs});
		const ended = (threadId: string): void => {
			this.#approvals.withdraw(question => question.threadId === threadId);
			// Codex has stopped waiting for those, but not for those of agents.
			this.#approvals.cancelOn(threadId);
		};
		this.#app = new AppTurns({asker: this.#asker, cwd, ended});
		this.#turns = new Turns({out, reports: this.#reports, backend: this.#app, ...limits});
		this.#app.serve(this.#turns);
	}

	readonly toUpstream = (envelope: Envelope, answer: Answer): undefined => {
		const {id, method} = envelope.head;
		if (method === undefined) this.#approvals.answered(envelope);
		else if (id === undefined) this.#notification(envelope, method);
		else if (method === 'initialize') this.#initialize(envelope, id);
		else if (method === 'tools/list') answer(Envelope.answer(id, 'result', {tools}, envelope.origin));
		else if (method === 'tools/call') this.#call(envelope, answer);
		else answerHere(envelope, this.#reports, answer);
	};

	/** Codex leaves `jsonrpc` out of all it says, so there may be things that are neither. */
	readonly toClient = (envelope: Envelope): undefined => {
		const {id, method, hasResult, hasError} = envelope.head;
		if (method === undefined) {
			if (hasResult || hasError) this.#asker.answered(envelope);
		} else if (id === undefined) this.#notified(envelope, method);
		else this.#asked(envelope, id, method);
	};

	readonly upstreamGone = (): void => {
		this.#approvals.stop();
		this.#turns.gone();
	};

	readonly stopped = (): void => {
		this.#approvals.stop();
		this.#turns.stop();
	};

	#initialize({body: {params}, origin}: Envelope, id: string): void {
		if (this.#isInitialized) throw twice();
		this.#isInitialized = true;
		this.#approvals.canAsk = canBeAsked(objectOf(params).capabilities);
		const clientInfo = {...ownInfo, title: 'bridge'};
		const capabilities = {
			experimentalApi: false,
			requestAttestation: false,
			optOutNotificationMethods: unwanted,
		};
		const reply = (member: 'result' | 'error', value: object): void =>
			this.#out.toClient(Envelope.answer(id, member, value, origin));
		this.#asker.ask(
			'initialize',
			{clientInfo, capabilities},
			({userAgent}) => {
				this.#isReady = true;
				this.#asker.tell('initialized');
				const [, version = 'unknown'] = /^[^/]*\/(\S+)/.exec(text(userAgent) ?? '') ?? [];
				reply('result', initialized(params, {name: 'codex-app-server', title: 'Codex', version}));
			},
			reason => {
				this.#isInitialized = false;
				reply('error', {code: -32603, message: `Codex did not start: ${reason}`});
			},
		);
	}

	#call(envelope: Envelope, answer: Answer): void {
		if (!this.#isReady) throw tooEarly();
		if (isTurn(envelope, answer)) this.#turns.add(envelope);
	}

	#notification(envelope: Envelope, method: string): void {
		if (method !== 'notifications/cancelled') return;
		const id = memberText(envelope.bytes, 'params', 'requestId');
		if (id !== undefined) this.#turns.cancel(id);
	}

	#asked(envelope: Envelope, id: string, method: string): void {
		const params = objectOf(envelope.body.params);
		const question = appQuestion(id, method, params, this.#files.get(params.itemId) ?? []);
		if (question) {
			const rootId = this.#roots.get(question.threadId ?? '');
			this.#approvals.ask({...question, rootId}, envelope.origin, this.#turns);
			return;
		}
		this.#reports.warn(`Codex asked for something that bridge cannot give, and was refused: ${method}`);
		const error = {code: -32601, message: `bridge has no ${method}`};
		this.#out.toUpstream(Envelope.answer(id, 'error', error, envelope.origin));
	}

	#notified(envelope: Envelope, method: string): void {
		const params = objectOf(envelope.body.params);
		const threadId = text(params.threadId);
		if (method === 'configWarning') this.#configuration(params);
		if (method === 'thread/closed' && threadId !== undefined) this.#app.unloaded(threadId);
		if (method === 'item/started') this.#note(objectOf(params.item));
		if (method === 'item/completed') this.#noteAgents(threadId, objectOf(params.item));
		if (method === 'serverRequest/resolved') this.#resolved(params.requestId);
		const call = this.#turns.current(threadId);
		const happening = appHappening(method, params);
		if (happening) this.#reports.happened(threadId, happening, call, envelope.origin);
		if (call) {
			noteCommand(call, method, objectOf(params.item));
			this.#follow(call, method, params, envelope);
		}
	}

	/** Agents that a turn has started have threads of their own, and may start further agents. */
	#noteAgents(threadId: string | undefined, item: JsonObject): void {
		const rootId = this.#roots.get(threadId ?? '') ?? threadId;
		if (rootId !== undefined) for (const agent of startedAgents(item)) this.#roots.set(agent, rootId);
	}

	#resolved(requestId: unknown): void {
		const id = JSON.stringify(requestId);
		this.#approvals.withdraw(question => question.id === id);
	}

	/** With a configuration that it cannot read, Codex goes on with its defaults: with another model at another's cost. */
	#configuration({summary, details, path}: JsonObject): void {
		if (typeof path !== 'string' && !/^invalid configuration/i.test(String(summary))) return;
		const what = `Codex cannot use its configuration: ${text(details) ?? summary}`;
		this.#app.broken = `${what}. Nothing is started with its defaults instead. Correct the file, and start bridge again.`;
		this.#log.error('codex.config', this.#app.broken, {path});
	}

	#follow(call: Call, method: string, params: JsonObject, {origin}: Envelope): void {
		const turn = objectOf(params.turn);
		switch (method) {
			case 'turn/started':
				call.turnId = text(turn.id);
				this.#turns.started(call, origin);
				break;
			case 'item/agentMessage/delta':
				call.speech.piece(text(params.delta) ?? '');
				this.#reports.progress(call, 'Says something', origin);
				break;
			case 'item/reasoning/summaryTextDelta':
			case 'item/reasoning/textDelta':
				this.#reports.progress(call, 'Thinks', origin);
				break;
			case 'item/completed':
				this.#said(call, objectOf(params.item));
				break;
			case 'turn/completed':
				this.#app.completed(call, turn);
				break;
			default:
				break;
		}
	}

	#note({type, id, changes}: JsonObject): void {
		if (type === 'fileChange') this.#files.set(id, changedFiles(changes));
	}

	#said(call: Call, item: JsonObject): void {
		if (item.type === 'agentMessage') call.speech.message(text(item.text) ?? '');
	}
}

function noteCommand(call: Call, method: string, {type, id, command}: JsonObject): void {
	if (type !== 'commandExecution') return;
	if (method === 'item/started') call.commands.set(String(id), text(command) ?? '');
	if (method === 'item/completed') call.commands.delete(String(id));
}
