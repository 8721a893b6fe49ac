import process from 'node:process';
import {bridgeInfo} from '../../bridge-version.js';
import {Envelope} from '../../core/envelope.js';
import type {Log} from '../../core/log.js';
import {type Emit, type Stage, type StageOutputs, type StageSteps, stage} from '../../core/stage.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {type JsonObject, objectOf} from '../../util/json.js';
import {memberText} from '../../wire/member.js';
import {parseAppApproval} from './app-server-approvals.js';
import {AppServerClient} from './app-server-client.js';
import {changedFiles, optOutNotifications, parseAppEvent, startedAgentThreads} from './app-server-events.js';
import {AppServerTurns} from './app-server-turns.js';
import {Approvals, supportsFormElicitation} from './approvals.js';
import {codexToolDefinitions} from './codex-tools.js';
import {CodexTurns} from './codex-turns.js';
import {
	acceptTurnCall,
	alreadyInitializedError,
	codexInitializeResult,
	notInitializedError,
	respondLocally,
} from './local-responses.js';
import type {CodexStageOptions} from './mcp-server.js';
import {stringOrUndefined, type TurnCall} from './turn-call.js';
import {TurnNotifier} from './turn-notifier.js';

type AppServerOptions = CodexStageOptions & {
	/** The folder that Codex runs in. Default: the folder of this process. */
	readonly cwd?: string | undefined;
};

/** Presents `codex app-server` as an MCP server with the tools of `codex mcp-server`. */
export const appServer = (options: AppServerOptions): Stage => stage(out => new AppServer(options, out));

const MAX_CHANGES = 1000;
const MAX_AGENTS = 10_000;

class AppServer implements StageSteps {
	readonly #out: StageOutputs;
	readonly #log: Log;
	readonly #rpc: AppServerClient;
	readonly #notifier: TurnNotifier;
	readonly #approvals: Approvals;
	readonly #backend: AppServerTurns;
	readonly #turns: CodexTurns;
	/** The files of each `fileChange` item, by item id. Approvals refer to them by id only. */
	readonly #changedFiles = new BoundedMap<unknown, readonly string[]>(MAX_CHANGES);
	/** The threads of subagents, each with the thread of its Codex session. */
	readonly #rootThreads = new BoundedMap<string, string>(MAX_AGENTS);
	#isInitialized = false;
	#isReady = false;

	constructor({log, approvalMs, cwd = process.cwd(), ...limits}: AppServerOptions, out: StageOutputs) {
		this.#out = out;
		this.#log = log;
		this.#rpc = new AppServerClient(out);
		this.#notifier = new TurnNotifier(out);
		this.#approvals = new Approvals({out, notifier: this.#notifier, log, approvalMs});
		const onTurnEnded = (threadId: string): void => {
			this.#approvals.cancelRequests(approval => approval.threadId === threadId);
			// Codex no longer waits for those, but it still waits for the approvals of subagents.
			this.#approvals.abortThread(threadId);
		};
		this.#backend = new AppServerTurns({rpc: this.#rpc, cwd, onTurnEnded});
		this.#turns = new CodexTurns({out, notifier: this.#notifier, backend: this.#backend, ...limits});
		this.#backend.attach(this.#turns);
	}

	readonly toUpstream = (envelope: Envelope, emit: Emit): undefined => {
		const {id, method} = envelope.head;
		if (method === undefined) this.#approvals.handleResponse(envelope);
		else if (id === undefined) this.#handleClientNotification(envelope, method);
		else if (method === 'initialize') this.#initialize(envelope, id);
		else if (method === 'tools/list')
			emit(Envelope.response(id, 'result', {tools: codexToolDefinitions}, envelope.origin));
		else if (method === 'tools/call') this.#handleCall(envelope, emit);
		else respondLocally(envelope, this.#notifier, emit);
	};

	/** Codex omits `jsonrpc`, so a line may be neither a request nor a response. Such a line is dropped. */
	readonly toClient = (envelope: Envelope): undefined => {
		const {id, method, hasResult, hasError} = envelope.head;
		if (method === undefined) {
			if (hasResult || hasError) this.#rpc.handleResponse(envelope);
		} else if (id === undefined) this.#handleNotification(envelope, method);
		else this.#handleServerRequest(envelope, id, method);
	};

	readonly upstreamClosed = (): void => {
		this.#approvals.stop();
		this.#turns.codexExited();
	};

	readonly teardown = (): void => {
		this.#approvals.stop();
		this.#turns.dispose();
	};

	#initialize({body: {params}, origin}: Envelope, id: string): void {
		if (this.#isInitialized) throw alreadyInitializedError();
		this.#isInitialized = true;
		this.#approvals.isElicitationSupported = supportsFormElicitation(objectOf(params).capabilities);
		const clientInfo = {...bridgeInfo, title: 'bridge'};
		const capabilities = {
			experimentalApi: false,
			requestAttestation: false,
			optOutNotificationMethods: optOutNotifications,
		};
		const reply = (member: 'result' | 'error', value: object): void =>
			this.#out.toClient(Envelope.response(id, member, value, origin));
		this.#rpc.request(
			'initialize',
			{clientInfo, capabilities},
			({userAgent}) => {
				this.#isReady = true;
				this.#rpc.notify('initialized');
				const [, version = 'unknown'] = /^[^/]*\/(\S+)/.exec(stringOrUndefined(userAgent) ?? '') ?? [];
				reply('result', codexInitializeResult(params, {name: 'codex-app-server', title: 'Codex', version}));
			},
			reason => {
				this.#isInitialized = false;
				reply('error', {code: -32603, message: `Codex did not start: ${reason}`});
			},
		);
	}

	#handleCall(envelope: Envelope, emit: Emit): void {
		if (!this.#isReady) throw notInitializedError();
		if (acceptTurnCall(envelope, emit)) this.#turns.add(envelope);
	}

	#handleClientNotification(envelope: Envelope, method: string): void {
		if (method !== 'notifications/cancelled') return;
		const id = memberText(envelope.bytes, 'params', 'requestId');
		if (id !== undefined) this.#turns.cancel(id);
	}

	#handleServerRequest(envelope: Envelope, id: string, method: string): void {
		const params = objectOf(envelope.body.params);
		const approval = parseAppApproval(id, method, params, this.#changedFiles.get(params.itemId) ?? []);
		if (approval) {
			const rootThreadId = this.#rootThreads.get(approval.threadId ?? '');
			this.#approvals.request({...approval, rootThreadId}, envelope.origin, this.#turns);
			return;
		}
		this.#notifier.warn(`A request from Codex that bridge does not support was rejected: ${method}`);
		const error = {code: -32601, message: `bridge does not support ${method}`};
		this.#out.toUpstream(Envelope.response(id, 'error', error, envelope.origin));
	}

	#handleNotification(envelope: Envelope, method: string): void {
		const params = objectOf(envelope.body.params);
		const threadId = stringOrUndefined(params.threadId);
		if (method === 'configWarning') this.#handleConfigWarning(params);
		if (method === 'thread/closed' && threadId !== undefined) this.#backend.markUnloaded(threadId);
		if (method === 'item/started') this.#recordFileChange(objectOf(params.item));
		if (method === 'item/completed') this.#recordAgents(threadId, objectOf(params.item));
		if (method === 'serverRequest/resolved') this.#handleResolvedRequest(params.requestId);
		const call = this.#turns.current(threadId);
		const event = parseAppEvent(method, params);
		if (event) this.#notifier.notifyEvent(threadId, event, call, envelope.origin);
		if (call) {
			trackCommand(call, method, objectOf(params.item));
			this.#trackTurn(call, method, params, envelope);
		}
	}

	/** Subagents have their own threads and may start further subagents. */
	#recordAgents(threadId: string | undefined, item: JsonObject): void {
		const rootThreadId = this.#rootThreads.get(threadId ?? '') ?? threadId;
		if (rootThreadId !== undefined)
			for (const agent of startedAgentThreads(item)) this.#rootThreads.set(agent, rootThreadId);
	}

	#handleResolvedRequest(requestId: unknown): void {
		const id = JSON.stringify(requestId);
		this.#approvals.cancelRequests(approval => approval.id === id);
	}

	/**
	 * Blocks all turns after a configuration error. Codex would continue with its defaults, possibly with a
	 * different model at a different price.
	 */
	#handleConfigWarning({summary, details, path}: JsonObject): void {
		if (typeof path !== 'string' && !/^invalid configuration/i.test(String(summary))) return;
		const sentence = `Codex cannot use its configuration: ${stringOrUndefined(details) ?? summary}`;
		this.#backend.configError = `${sentence}. Codex would use its defaults instead, so bridge starts no turns. Correct the file and restart bridge.`;
		this.#log.error('codex.config', this.#backend.configError, {path});
	}

	#trackTurn(call: TurnCall, method: string, params: JsonObject, {origin}: Envelope): void {
		const turn = objectOf(params.turn);
		switch (method) {
			case 'turn/started':
				call.turnId = stringOrUndefined(turn.id);
				this.#turns.markStarted(call, origin);
				break;
			case 'item/agentMessage/delta':
				call.transcript.appendDelta(stringOrUndefined(params.delta) ?? '');
				this.#notifier.notifyProgress(call, 'Writing a message', origin);
				break;
			case 'item/reasoning/summaryTextDelta':
			case 'item/reasoning/textDelta':
				this.#notifier.notifyProgress(call, 'Thinking', origin);
				break;
			case 'item/completed':
				this.#recordMessage(call, objectOf(params.item));
				break;
			case 'turn/completed':
				this.#backend.handleTurnCompleted(call, turn);
				break;
			default:
				break;
		}
	}

	#recordFileChange({type, id, changes}: JsonObject): void {
		if (type === 'fileChange') this.#changedFiles.set(id, changedFiles(changes));
	}

	#recordMessage(call: TurnCall, item: JsonObject): void {
		if (item.type === 'agentMessage') call.transcript.setMessage(stringOrUndefined(item.text) ?? '');
	}
}

function trackCommand(call: TurnCall, method: string, {type, id, command}: JsonObject): void {
	if (type !== 'commandExecution') return;
	if (method === 'item/started') call.commands.set(String(id), stringOrUndefined(command) ?? '');
	if (method === 'item/completed') call.commands.delete(String(id));
}
