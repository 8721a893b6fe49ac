import type {Envelope} from '../../core/envelope.js';
import {type Log, logBug} from '../../core/log.js';
import type {AuditLog} from './audit-log.js';
import type {CodexSession, SessionEnding} from './codex-session.js';
import type {CodexSessions} from './codex-sessions.js';
import {PendingTurnRequests} from './pending-turn-requests.js';
import type {SessionSummaries} from './session-summaries.js';
import {saveSummary, summaryTurnRequest} from './summary-turn.js';
import {type ToolError, toToolError} from './tool-error.js';
import {
	advanceTurnQueue,
	SUMMARY_TURN,
	type TurnQueueAction,
	type TurnQueueEvent,
	type TurnRejectionReason,
} from './turn-queue.js';
import {
	failedTurnReport,
	lastTextPatch,
	parseTurnReport,
	type TurnReport,
	unconfirmedTurnReport,
} from './turn-report.js';
import {rejectedTurnResult, stoppedTurnResult, turnResult} from './turn-results.js';
import {type NewThread, type TurnRequest, TurnRun} from './turn-run.js';
import {TurnServerRequests} from './turn-server-requests.js';

type TurnRunnerOptions = {
	readonly sessions: CodexSessions;
	readonly summaries: SessionSummaries;
	readonly log: Log;
	readonly auditLog?: AuditLog;
	/** Time limit of a turn; 0 for no limit. */
	readonly timeoutMs: number;
	/** How long to wait for Codex to confirm that a turn has stopped. */
	readonly stopTimeoutMs?: number;
	/** Time limit for closing a session, including its summary. */
	readonly closeTimeoutMs?: number;
};

const STOP_TIMEOUT_MS = 2500;
const CLOSE_TIMEOUT_MS = 10_000;

/** Performs the actions of turn queues: sends turns, enforces time limits, responds, saves sessions. */
export class TurnRunner {
	readonly requests = new PendingTurnRequests();
	readonly serverRequests = new TurnServerRequests(threadId => {
		const session = this.#options.sessions.findByThread(threadId);
		return session && this.#runsOf(session).get(session.turnQueue.running?.id ?? '');
	});
	readonly #options: TurnRunnerOptions;
	/** Running and queued turns of each session, by turn id. */
	readonly #runs = new WeakMap<CodexSession, Map<string, TurnRun>>();
	readonly #closeCallbacks = new Map<CodexSession, (ending: SessionEnding) => void>();
	/** Set when Codex has exited. Later turns are rejected. */
	exitError: ToolError | undefined;
	/** Invoked after the response to a turn. */
	onTurnEnded: (request: TurnRequest) => void = () => {};

	constructor(options: TurnRunnerOptions) {
		this.#options = options;
	}

	submit(request: TurnRequest): void {
		const run = new TurnRun(request);
		this.#runsOf(run.session).set(request.turn.id, run);
		if (this.exitError) this.#reject(run, 'gone');
		else this.#dispatch(run.session, {type: 'submit', turn: request.turn});
	}

	cancel(session: CodexSession, id: string): void {
		this.#dispatch(session, {type: 'cancel', id});
	}

	/** Closes a session. Later calls return the same promise. */
	close(
		session: CodexSession,
		{wantsSummary = false, withinMs = this.#options.closeTimeoutMs ?? CLOSE_TIMEOUT_MS} = {},
	): Promise<SessionEnding> {
		session.closing ??= new Promise(resolve => {
			const timer = setTimeout(() => this.#dispatch(session, {type: 'expired'}), withinMs);
			this.#closeCallbacks.set(session, ending => {
				clearTimeout(timer);
				resolve(ending);
			});
			this.#dispatch(session, {type: 'close', wantsSummary});
		});
		return session.closing;
	}

	/** Ends the sessions that are being closed without waiting for their turns. */
	expireClosing(): void {
		for (const session of [...this.#closeCallbacks.keys()]) this.#dispatch(session, {type: 'expired'});
	}

	/** Fails all pending turns with the exit error and ends all sessions. */
	codexExited(exitError: ToolError): void {
		this.exitError = exitError;
		for (const session of this.#options.sessions.live) this.#dispatch(session, {type: 'codex_exited'});
	}

	setThread(key: string, threadId: unknown): void {
		const run = this.requests.find(key);
		if (run && typeof threadId === 'string' && threadId !== '')
			this.#options.sessions.setThread(run.session, threadId);
	}

	markTurnStarted(key: string): void {
		this.requests.find(key)?.markStarted();
	}

	/** Handles the response to a turn. Retries once in a new thread if Codex can no longer use the old one. */
	handleResponse(key: string, response: Envelope): void {
		const run = this.requests.find(key);
		if (!run) return;
		this.requests.remove(run);
		const report = parseTurnReport(response);
		const {prepareNewThread} = run.turnRequest;
		const isThreadLost = report.status === 'unknown_thread' || report.status === 'retired';
		const isStopping = run.session.turnQueue.stopReason !== undefined;
		if (isThreadLost && prepareNewThread && run.attempts === 1 && !isStopping)
			void this.#retryInNewThread(run, prepareNewThread);
		else this.#finish(run, report);
	}

	#dispatch(session: CodexSession, event: TurnQueueEvent): void {
		const {state, actions} = advanceTurnQueue(session.turnQueue, event);
		session.turnQueue = state;
		for (const action of actions) this.#perform(session, action);
	}

	#perform(session: CodexSession, action: TurnQueueAction): void {
		if (action.type === 'closed') {
			void this.#finishClose(session, action.ending);
			return;
		}
		const isSummary = action.type === 'start' && action.turn === SUMMARY_TURN;
		const run = isSummary
			? new TurnRun(summaryTurnRequest(session))
			: this.#runsOf(session).get(action.turn.id);
		if (!run) return;
		if (isSummary) this.#runsOf(session).set(SUMMARY_TURN.id, run);
		if (action.type === 'start') this.#start(run);
		else if (action.type === 'stop') this.#stop(run, action.reason);
		else this.#reject(run, action.reason);
	}

	#start(run: TurnRun): void {
		const {session} = run;
		const {tool, turn, arguments: args} = run.turnRequest;
		const {timeoutMs, sessions} = this.#options;
		run.applySettings();
		if (session.lifecycle.stage === 'idle') sessions.applyEventDeferred(session, 'turn_started');
		if (timeoutMs > 0 && turn !== SUMMARY_TURN)
			run.startTimeLimit(timeoutMs, () => this.#dispatch(session, {type: 'timeout', id: turn.id}));
		if (tool === 'codex') this.requests.send(run, tool, args);
		else if (session.threadId === null)
			this.#finish(run, failedTurnReport('The session has no thread.'), false);
		else this.requests.send(run, tool, {...args, threadId: session.threadId});
	}

	#stop(run: TurnRun, reason: string): void {
		const {stopTimeoutMs = STOP_TIMEOUT_MS} = this.#options;
		this.#options.auditLog?.turnStopped(reason === 'timeout' ? 'timeout' : 'cancel', run.turnRequest, reason);
		this.requests.cancel(run, reason);
		run.startStopTimer(stopTimeoutMs, () => this.#finish(run, unconfirmedTurnReport));
	}

	#reject(run: TurnRun, reason: TurnRejectionReason): void {
		this.#remove(run);
		this.#options.auditLog?.turnStopped('refusal', run.turnRequest, reason);
		run.turnRequest.respond(rejectedTurnResult(reason, run.session, this.exitError, run.partialText), reason);
	}

	async #retryInNewThread(run: TurnRun, prepareNewThread: () => Promise<NewThread>): Promise<void> {
		const {session} = run;
		try {
			const {arguments: args, context} = await prepareNewThread();
			run.resumed = {context, previousThreadId: session.threadId};
			if (this.#runsOf(session).get(run.turnRequest.turn.id) !== run) return;
			if (session.turnQueue.stopReason === undefined) this.requests.send(run, 'codex', args);
			else this.#finish(run, unconfirmedTurnReport, true);
		} catch (error) {
			if (this.#runsOf(session).get(run.turnRequest.turn.id) !== run) return;
			this.#finish(run, failedTurnReport(toToolError(error).message));
		}
	}

	/** Ends a turn: updates the session, starts the next turn and responds to the client. */
	#finish(run: TurnRun, report: TurnReport, isConfirmed = report.isConfirmed): void {
		const {session, turnRequest: request} = run;
		const {id} = request.turn;
		this.#remove(run);
		if (request.turn === SUMMARY_TURN) {
			const saved = saveSummary(session, report, this.#options);
			void saved.then(isSuccessful =>
				this.#dispatch(session, {type: 'ended', id, isConfirmed, isSuccessful}),
			);
			return;
		}
		if (report.threadId !== undefined) this.#options.sessions.setThread(session, report.threadId);
		const result = this.#buildResult(run, report);
		const isSuccessful = report.status === 'completed';
		if (!isSuccessful) run.restoreUnlessStarted();
		if (session.threadId === null) this.#closeFailedStart(session, id);
		else {
			const patch = {turns: session.entry.turns + 1, ...lastTextPatch(report)};
			if (run.changesSession) this.#options.sessions.applyEvent(session, 'turn_ended', patch);
			else this.#options.sessions.applyEventDeferred(session, 'turn_ended', patch);
			this.#dispatch(session, {type: 'ended', id, isConfirmed, isSuccessful});
		}
		const respond = (): void => {
			request.respond(result, report.status);
			this.onTurnEnded(request);
		};
		if (run.changesSession) void session.saved.then(respond);
		else respond();
	}

	#buildResult(run: TurnRun, report: TurnReport) {
		const {session, turnRequest: request} = run;
		const {stopReason} = session.turnQueue;
		if (stopReason !== undefined && report.status !== 'completed')
			return stoppedTurnResult(stopReason, report, session, this.#options.timeoutMs);
		if (request.isResume && !run.resumed)
			run.resumed = {context: 'thread', previousThreadId: session.threadId};
		return turnResult(report, session, {resumed: run.resumed, notice: request.notice});
	}

	/** Closes a session whose first turn ended without a thread. Queued turns are rejected. */
	#closeFailedStart(session: CodexSession, id: string): void {
		session.hasFailedToStart = true;
		this.#dispatch(session, {type: 'close', wantsSummary: false});
		this.#dispatch(session, {type: 'ended', id, isConfirmed: false, isSuccessful: false});
	}

	async #finishClose(session: CodexSession, ending: SessionEnding): Promise<void> {
		const {sessions, log} = this.#options;
		for (const run of [...this.#runsOf(session).values()])
			this.#reject(run, this.exitError ? 'gone' : 'closed');
		try {
			if (session.hasFailedToStart) await sessions.discard(session);
			else await sessions.end(session, this.exitError ? 'child_exited' : ending);
		} catch (error) {
			logBug(log, error);
		}
		this.#closeCallbacks.get(session)?.(ending);
		this.#closeCallbacks.delete(session);
	}

	#remove(run: TurnRun): void {
		run.clearTimers();
		this.requests.remove(run);
		this.#runsOf(run.session).delete(run.turnRequest.turn.id);
	}

	#runsOf(session: CodexSession): Map<string, TurnRun> {
		const runs = this.#runs.get(session) ?? new Map<string, TurnRun>();
		this.#runs.set(session, runs);
		return runs;
	}
}
