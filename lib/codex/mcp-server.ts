import {BoundedMap} from '../bounded-map.js';
import {change} from '../change.js';
import {Envelope} from '../envelope.js';
import type {Log} from '../log.js';
import {isObject, type JsonObject, objectOf} from '../protocol/json.js';
import {type Answer, type Outlets, type Stage, type Steps, stage} from '../stage.js';
import {memberText} from '../wire/member.js';
import {type ApprovalLimits, Approvals, canBeAsked, type Question} from './approvals.js';
import {type Call, text} from './call.js';
import {mcpQuestion, unanswerable} from './mcp-approvals.js';
import {commandLine, mcpHappening} from './mcp-events.js';
import {mcpOutcome} from './mcp-result.js';
import {failed} from './outcome.js';
import {Reports} from './reports.js';
import {answerHere, errorText, initialized, isTurn, twice} from './requests.js';
import type {TurnLimits} from './turn-limits.js';
import {type Backend, Turns} from './turns.js';

export type CodexStageOptions = TurnLimits & ApprovalLimits & {readonly log: Log};

/** Ids of calls that Codex may still answer something under; the oldest is forgotten for the next. */
const MAX_IDS = 10_000;
/** What Codex is asked for: it gives back whatever it is asked for, and this is what it speaks. */
const VERSION = '2025-06-18';

/** Makes `codex mcp-server` (0.103 to 0.153) a server that answers all it is asked, once, and mixes up no threads. */
export const mcpServer = (options: CodexStageOptions): Stage => stage(out => new McpServer(options, out));

class McpServer implements Steps, Backend {
	readonly #out: Outlets;
	readonly #log: Log;
	readonly #reports: Reports;
	readonly #approvals: Approvals;
	readonly #turns: Turns;
	/** Requests that are passed on, by the id that Codex knows them by. */
	readonly #passed = new BoundedMap<string, Envelope>(MAX_IDS);
	/** The calls that Codex was told of, by the id that it knows them by. */
	readonly #calls = new BoundedMap<string, Call>(MAX_IDS);
	readonly #ids = new WeakMap<Call, string>();
	/** What to do when Codex responds to a ping, by its id. */
	readonly #probes = new BoundedMap<string, () => void>(MAX_IDS);
	#lastId = 0;
	#isInitialized = false;

	constructor({log, approvalMs, ...limits}: CodexStageOptions, out: Outlets) {
		this.#out = out;
		this.#log = log;
		this.#reports = new Reports(out);
		this.#approvals = new Approvals({out, reports: this.#reports, log, approvalMs});
		this.#turns = new Turns({out, reports: this.#reports, backend: this, ...limits});
	}

	readonly toUpstream = (envelope: Envelope, answer: Answer): Envelope | undefined => {
		const {id, method} = envelope.head;
		if (method === undefined) return void this.#approvals.answered(envelope);
		if (id === undefined) return this.#notification(envelope, method);
		switch (method) {
			case 'initialize':
				return this.#initialize(envelope);
			case 'tools/list':
				return this.#pass(envelope);
			case 'tools/call':
				return isTurn(envelope, answer) ? void this.#turns.add(envelope) : undefined;
			default:
				return void answerHere(envelope, this.#reports, answer);
		}
	};

	readonly toClient = (envelope: Envelope, answer: Answer): Envelope | undefined => {
		const {id, key, method} = envelope.head;
		if (method === undefined) return key === undefined ? undefined : this.#answered(envelope, key);
		if (method === 'codex/event') return void this.#event(envelope);
		if (id === undefined) return envelope;
		if (method === 'elicitation/create')
			return void this.#ask(mcpQuestion(id, objectOf(envelope.body.params)), envelope);
		const error = {code: -32601, message: `Method not found: ${method}`};
		answer(Envelope.answer(id, 'error', error, envelope.origin));
		return;
	};

	readonly upstreamGone = (): void => {
		this.#approvals.stop();
		this.#turns.gone();
	};

	readonly stopped = (): void => {
		this.#approvals.stop();
		this.#turns.stop();
	};

	begin(call: Call): void {
		const id = this.#newId();
		this.#ids.set(call, id);
		this.#calls.set(id, call);
		const {isReply, threadId, prompt, given} = call;
		const params = isReply
			? {name: 'codex-reply', arguments: {threadId, prompt}}
			: {name: 'codex', arguments: given};
		const request = {jsonrpc: '2.0', id: Number(id), method: 'tools/call', params};
		this.#out.toUpstream(Envelope.of(request, call.origin));
	}

	interrupt(call: Call): void {
		// A turn that waits for an answer ends by the answer; its cancellation alone would leave Codex waiting.
		if (this.#approvals.isOpenOn(call.threadId)) this.#approvals.cancelOn(call.threadId);
		const params = {requestId: Number(this.#ids.get(call))};
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params}));
	}

	probe(answered: () => void): void {
		const id = this.#newId();
		this.#probes.set(id, answered);
		this.#out.toUpstream(Envelope.of({jsonrpc: '2.0', id: Number(id), method: 'ping'}));
	}

	ended(threadId: string): void {
		this.#approvals.withdraw(question => question.threadId === threadId);
	}

	#ask(question: Question, {origin}: Envelope): void {
		this.#approvals.ask(question, origin, this.#turns);
	}

	#newId(): string {
		return String(++this.#lastId);
	}

	#initialize(envelope: Envelope): Envelope {
		if (this.#isInitialized) throw twice();
		this.#isInitialized = true;
		const params = objectOf(envelope.body.params);
		this.#approvals.canAsk = canBeAsked(params.capabilities);
		return this.#pass(
			change(envelope, body => ({...body, params: {...params, protocolVersion: VERSION}})),
			envelope,
		);
	}

	#pass(told: Envelope, request = told): Envelope {
		const id = this.#newId();
		this.#passed.set(id, request);
		return told.withId(id);
	}

	#notification(envelope: Envelope, method: string): Envelope | undefined {
		if (method === 'notifications/initialized') return envelope;
		if (method !== 'notifications/cancelled') return;
		const id = memberText(envelope.bytes, 'params', 'requestId');
		if (id !== undefined) this.#turns.cancel(id);
		return;
	}

	#answered(envelope: Envelope, key: string): Envelope | undefined {
		const answered = this.#probes.take(key);
		if (answered) return void answered();
		const passed = this.#passed.take(key);
		if (!passed) return void this.#turnAnswered(envelope, key);
		const {id = 'null', method} = passed.head;
		if (method !== 'initialize' || !isObject(envelope.body.result)) return envelope.withId(id);
		const result = initialized(passed.body.params, objectOf(envelope.body.result.serverInfo));
		return Envelope.answer(id, 'result', result, envelope.origin);
	}

	/**
	 * The result of a turn. Calls that were cancelled listen on, and take results of later turns on their threads: whatever
	 * the id, a result is that of the call whose turn it is.
	 */
	#turnAnswered({body}: Envelope, key: string): void {
		const asked = this.#calls.take(key);
		const result = objectOf(body.result);
		const threadId = text(objectOf(result.structuredContent).threadId) ?? asked?.threadId;
		if (threadId !== undefined) this.#turns.reclaim(threadId, asked, false);
		const call = this.#turns.current(threadId) ?? (asked?.threadId === undefined ? asked : undefined);
		if (!call)
			this.#log.debug('codex.orphan_result', 'Codex answered a turn that nobody waits for.', {threadId});
		else if (body.error !== undefined) this.#turns.finish(call, failed(errorText(body.error)));
		else this.#turns.finish(call, mcpOutcome(result, call));
	}

	#event(envelope: Envelope): void {
		const {_meta, msg} = objectOf(envelope.body.params);
		const {requestId, threadId: named} = objectOf(_meta);
		const event = objectOf(msg);
		const threadId = text(named);
		if (event.type === 'session_configured') this.#configured(String(requestId), threadId, event, envelope);
		if (threadId !== undefined)
			this.#turns.reclaim(threadId, this.#calls.get(String(requestId)), event.type === 'task_started');
		const call = this.#turns.current(threadId);
		if (call) {
			call.isAcknowledged = true;
			this.#follow(call, event, envelope);
		}
		const happening = mcpHappening(event);
		if (happening) this.#reports.happened(threadId, happening, call, envelope.origin);
	}

	/** An early Codex, such as 0.104, names the thread beside the event alone. */
	#configured(id: string, named: string | undefined, event: JsonObject, {origin}: Envelope): void {
		const call = this.#calls.get(id);
		const threadId = text(event.thread_id) ?? named;
		if (call && threadId !== undefined)
			this.#turns.knowThread(call, threadId, text(event.rollout_path), origin);
	}

	#follow(call: Call, event: JsonObject, {origin}: Envelope): void {
		switch (event.type) {
			case 'task_started':
				call.turnId = text(event.turn_id);
				this.#turns.started(call, origin);
				break;
			case 'agent_message_content_delta':
				call.speech.piece(text(event.delta) ?? '');
				this.#reports.progress(call, 'Says something', origin);
				break;
			case 'agent_message':
				call.speech.message(text(event.message) ?? '');
				break;
			case 'exec_command_begin':
				call.commands.set(String(event.call_id), commandLine(event.command));
				break;
			case 'exec_command_end':
				call.commands.delete(String(event.call_id));
				break;
			case 'turn_aborted':
				this.#turns.stopped(call);
				break;
			case 'elicitation_request':
				this.#reports.warn(unanswerable, call.threadId);
				this.#turns.abandon(call, unanswerable);
				break;
			default:
				break;
		}
	}
}
