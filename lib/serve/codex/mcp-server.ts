import {editMessage} from '../../core/edit-message.js';
import {Envelope} from '../../core/envelope.js';
import type {Log} from '../../core/log.js';
import {type Emit, type Stage, type StageOutputs, type StageSteps, stage} from '../../core/stage.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {isObject, type JsonObject, objectOf} from '../../util/json.js';
import {memberText} from '../../wire/member.js';
import {type ApprovalLimits, type ApprovalRequest, Approvals, supportsFormElicitation} from './approvals.js';
import {failedOutcome} from './codex-outcome.js';
import {CodexTurns, type TurnBackend} from './codex-turns.js';
import {
	acceptTurnCall,
	alreadyInitializedError,
	codexInitializeResult,
	respondLocally,
	rpcErrorText,
} from './local-responses.js';
import {parseMcpApproval, UNANSWERABLE_APPROVAL} from './mcp-server-approvals.js';
import {formatCommand, parseMcpEvent} from './mcp-server-events.js';
import {parseMcpOutcome} from './mcp-server-result.js';
import {stringOrUndefined, type TurnCall} from './turn-call.js';
import type {TurnLimits} from './turn-limits.js';
import {TurnNotifier} from './turn-notifier.js';

export type CodexStageOptions = TurnLimits & ApprovalLimits & {readonly log: Log};

/** Limit on ids that Codex may still use in a response. The oldest is evicted. */
const MAX_PENDING_IDS = 10_000;
/** The version that Codex implements. It echoes any requested version, so bridge always requests this one. */
const CODEX_MCP_VERSION = '2025-06-18';

/**
 * Makes `codex mcp-server` (0.103 to 0.153) a well-behaved MCP server: each request gets exactly one
 * response, and results belong to the right thread.
 */
export const mcpServer = (options: CodexStageOptions): Stage => stage(out => new McpServer(options, out));

class McpServer implements StageSteps, TurnBackend {
	readonly #out: StageOutputs;
	readonly #log: Log;
	readonly #notifier: TurnNotifier;
	readonly #approvals: Approvals;
	readonly #turns: CodexTurns;
	/** Forwarded requests, by the id that Codex receives. */
	readonly #forwarded = new BoundedMap<string, Envelope>(MAX_PENDING_IDS);
	/** Calls that were sent to Codex, by the id that Codex receives. */
	readonly #calls = new BoundedMap<string, TurnCall>(MAX_PENDING_IDS);
	readonly #ids = new WeakMap<TurnCall, string>();
	/** Callbacks of pending pings, by id. */
	readonly #pings = new BoundedMap<string, () => void>(MAX_PENDING_IDS);
	#lastId = 0;
	#isInitialized = false;

	constructor({log, approvalMs, ...limits}: CodexStageOptions, out: StageOutputs) {
		this.#out = out;
		this.#log = log;
		this.#notifier = new TurnNotifier(out);
		this.#approvals = new Approvals({out, notifier: this.#notifier, log, approvalMs});
		this.#turns = new CodexTurns({out, notifier: this.#notifier, backend: this, ...limits});
	}

	readonly toUpstream = (envelope: Envelope, emit: Emit): Envelope | undefined => {
		const {id, method} = envelope.head;
		if (method === undefined) return void this.#approvals.handleResponse(envelope);
		if (id === undefined) return this.#handleClientNotification(envelope, method);
		switch (method) {
			case 'initialize':
				return this.#initialize(envelope);
			case 'tools/list':
				return this.#forward(envelope);
			case 'tools/call':
				return acceptTurnCall(envelope, emit) ? void this.#turns.add(envelope) : undefined;
			default:
				return void respondLocally(envelope, this.#notifier, emit);
		}
	};

	readonly toClient = (envelope: Envelope, emit: Emit): Envelope | undefined => {
		const {id, key, method} = envelope.head;
		if (method === undefined) return key === undefined ? undefined : this.#handleResponse(envelope, key);
		if (method === 'codex/event') return void this.#handleEvent(envelope);
		if (id === undefined) return envelope;
		if (method === 'elicitation/create')
			return void this.#requestApproval(parseMcpApproval(id, objectOf(envelope.body.params)), envelope);
		const error = {code: -32601, message: `Method not found: ${method}`};
		emit(Envelope.response(id, 'error', error, envelope.origin));
		return;
	};

	readonly upstreamClosed = (): void => {
		this.#approvals.stop();
		this.#turns.codexExited();
	};

	readonly teardown = (): void => {
		this.#approvals.stop();
		this.#turns.dispose();
	};

	startTurn(call: TurnCall): void {
		const id = this.#newId();
		this.#ids.set(call, id);
		this.#calls.set(id, call);
		const {isReply, threadId, prompt, args} = call;
		const params = isReply
			? {name: 'codex-reply', arguments: {threadId, prompt}}
			: {name: 'codex', arguments: args};
		const request = {jsonrpc: '2.0', id: Number(id), method: 'tools/call', params};
		this.#out.toUpstream(Envelope.of(request, call.origin));
	}

	interruptTurn(call: TurnCall): void {
		// A cancellation alone would leave Codex waiting for the approval.
		if (this.#approvals.hasPendingOn(call.threadId)) this.#approvals.abortThread(call.threadId);
		const params = {requestId: Number(this.#ids.get(call))};
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params}));
	}

	probe(onResponse: () => void): void {
		const id = this.#newId();
		this.#pings.set(id, onResponse);
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id: Number(id), method: 'ping'}));
	}

	turnEnded(threadId: string): void {
		this.#approvals.cancelRequests(approval => approval.threadId === threadId);
	}

	#requestApproval(approval: ApprovalRequest, {origin}: Envelope): void {
		this.#approvals.request(approval, origin, this.#turns);
	}

	#newId(): string {
		return String(++this.#lastId);
	}

	#initialize(envelope: Envelope): Envelope {
		if (this.#isInitialized) throw alreadyInitializedError();
		this.#isInitialized = true;
		const params = objectOf(envelope.body.params);
		this.#approvals.isElicitationSupported = supportsFormElicitation(params.capabilities);
		return this.#forward(
			editMessage(envelope, body => ({...body, params: {...params, protocolVersion: CODEX_MCP_VERSION}})),
			envelope,
		);
	}

	#forward(message: Envelope, request = message): Envelope {
		const id = this.#newId();
		this.#forwarded.set(id, request);
		return message.withId(id);
	}

	#handleClientNotification(envelope: Envelope, method: string): Envelope | undefined {
		if (method === 'notifications/initialized') return envelope;
		if (method !== 'notifications/cancelled') return;
		const id = memberText(envelope.bytes, 'params', 'requestId');
		if (id !== undefined) this.#turns.cancel(id);
		return;
	}

	#handleResponse(envelope: Envelope, key: string): Envelope | undefined {
		const onPong = this.#pings.take(key);
		if (onPong) return void onPong();
		const request = this.#forwarded.take(key);
		if (!request) return void this.#handleTurnResult(envelope, key);
		const {id = 'null', method} = request.head;
		if (method !== 'initialize' || !isObject(envelope.body.result)) return envelope.withId(id);
		const result = codexInitializeResult(request.body.params, objectOf(envelope.body.result.serverInfo));
		return Envelope.response(id, 'result', result, envelope.origin);
	}

	/**
	 * Handles the result of a turn. Codex may send the result of a later turn under the id of a cancelled call
	 * on the same thread. The result therefore belongs to the call that currently uses the thread, whatever the
	 * id.
	 */
	#handleTurnResult({body}: Envelope, key: string): void {
		const requestedCall = this.#calls.take(key);
		const result = objectOf(body.result);
		const threadId =
			stringOrUndefined(objectOf(result.structuredContent).threadId) ?? requestedCall?.threadId;
		if (threadId !== undefined) this.#turns.reclaimThread(threadId, requestedCall, false);
		const call =
			this.#turns.current(threadId) ?? (requestedCall?.threadId === undefined ? requestedCall : undefined);
		if (!call)
			this.#log.debug('codex.orphan_result', 'Codex sent a result without a pending call. It was dropped.', {
				threadId,
			});
		else if (body.error !== undefined) this.#turns.finish(call, failedOutcome(rpcErrorText(body.error)));
		else this.#turns.finish(call, parseMcpOutcome(result, call));
	}

	#handleEvent(envelope: Envelope): void {
		const {_meta, msg} = objectOf(envelope.body.params);
		const {requestId, threadId: metaThreadId} = objectOf(_meta);
		const event = objectOf(msg);
		const threadId = stringOrUndefined(metaThreadId);
		if (event.type === 'session_configured')
			this.#handleSessionConfigured(String(requestId), threadId, event, envelope);
		if (threadId !== undefined)
			this.#turns.reclaimThread(threadId, this.#calls.get(String(requestId)), event.type === 'task_started');
		const call = this.#turns.current(threadId);
		if (call) {
			call.isAcknowledged = true;
			this.#trackTurn(call, event, envelope);
		}
		const codexEvent = parseMcpEvent(event);
		if (codexEvent) this.#notifier.notifyEvent(threadId, codexEvent, call, envelope.origin);
	}

	/** Early versions of Codex, such as 0.104, send the thread id only in `_meta`, not in the event. */
	#handleSessionConfigured(
		id: string,
		metaThreadId: string | undefined,
		event: JsonObject,
		{origin}: Envelope,
	): void {
		const call = this.#calls.get(id);
		const threadId = stringOrUndefined(event.thread_id) ?? metaThreadId;
		if (call && threadId !== undefined)
			this.#turns.setThread(call, threadId, stringOrUndefined(event.rollout_path), origin);
	}

	#trackTurn(call: TurnCall, event: JsonObject, {origin}: Envelope): void {
		switch (event.type) {
			case 'task_started':
				call.turnId = stringOrUndefined(event.turn_id);
				this.#turns.markStarted(call, origin);
				break;
			case 'agent_message_content_delta':
				call.transcript.appendDelta(stringOrUndefined(event.delta) ?? '');
				this.#notifier.notifyProgress(call, 'Writing a message', origin);
				break;
			case 'agent_message':
				call.transcript.setMessage(stringOrUndefined(event.message) ?? '');
				break;
			case 'exec_command_begin':
				call.commands.set(String(event.call_id), formatCommand(event.command));
				break;
			case 'exec_command_end':
				call.commands.delete(String(event.call_id));
				break;
			case 'turn_aborted':
				this.#turns.finishStopped(call);
				break;
			case 'elicitation_request':
				this.#notifier.warn(UNANSWERABLE_APPROVAL, call.threadId);
				this.#turns.abandon(call, UNANSWERABLE_APPROVAL);
				break;
			default:
				break;
		}
	}
}
