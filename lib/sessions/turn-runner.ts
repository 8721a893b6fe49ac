import type {Envelope} from '../envelope.js';
import {type Log, logBug} from '../log.js';
import {type Ask, Job, type Restart} from './job.js';
import type {Journal} from './journal.js';
import {refusedResult, stoppedResult, turnResult} from './outcome.js';
import {asRefusal, type Refusal} from './refusal.js';
import type {Ending, Session} from './session.js';
import type {Sessions} from './sessions.js';
import type {Summaries} from './summary.js';
import {keepSummary, summaryAsk} from './summary-turn.js';
import {TurnQuestions} from './turn-questions.js';
import {failedReport, lastText, readReport, silentReport, type TurnReport} from './turn-report.js';
import {TurnRequests} from './turn-requests.js';
import {nextTurns, type RefusalReason, SUMMARY, type TurnAction, type TurnEvent} from './turns.js';

export type TurnRunnerOptions = {
	readonly sessions: Sessions;
	readonly summaries: Summaries;
	readonly log: Log;
	readonly journal?: Journal;
	/** How long a turn may take; 0 for no limit. */
	readonly timeoutMs: number;
	/** How long Codex may take to tell that a turn is stopped. */
	readonly stopMs?: number;
	/** How long closing a session may take in all. */
	readonly closeMs?: number;
};

const STOP_MS = 2500;
const CLOSE_MS = 10_000;

/** Does what the rules of turns say: asks Codex, keeps the time, answers callers, and tells the registry. */
export class TurnRunner {
	readonly requests = new TurnRequests();
	readonly questions = new TurnQuestions(threadId => {
		const session = this.#options.sessions.ofThread(threadId);
		return session && this.#jobsOf(session).get(session.turns.running?.id ?? '');
	});
	readonly #options: TurnRunnerOptions;
	/** All turns of a session that somebody waits for, by their ids. */
	readonly #jobs = new WeakMap<Session, Map<string, Job>>();
	readonly #closings = new Map<Session, (ending: Ending) => void>();
	/** Why nothing can be asked any more. */
	death: Refusal | undefined;
	/** Told when a turn is over and its caller answered. */
	onTurnOver: (ask: Ask) => void = () => {};

	constructor(options: TurnRunnerOptions) {
		this.#options = options;
	}

	ask(ask: Ask): void {
		const job = new Job(ask);
		this.#jobsOf(job.session).set(ask.turn.id, job);
		if (this.death) this.#refuse(job, 'gone');
		else this.#step(job.session, {type: 'ask', turn: ask.turn});
	}

	cancel(session: Session, id: string): void {
		this.#step(session, {type: 'cancel', id});
	}

	/** Ends a session. Who asks for that again waits for the same end. */
	close(
		session: Session,
		{wantsSummary = false, withinMs = this.#options.closeMs ?? CLOSE_MS} = {},
	): Promise<Ending> {
		session.closing ??= new Promise(resolve => {
			const timer = setTimeout(() => this.#step(session, {type: 'expired'}), withinMs);
			this.#closings.set(session, ending => {
				clearTimeout(timer);
				resolve(ending);
			});
			this.#step(session, {type: 'close', wantsSummary});
		});
		return session.closing;
	}

	/** There is no more time for sessions to end in. */
	hurry(): void {
		for (const session of [...this.#closings.keys()]) this.#step(session, {type: 'expired'});
	}

	/** Codex is gone: whoever waits is told why, and all sessions are over. */
	gone(death: Refusal): void {
		this.death = death;
		for (const session of this.#options.sessions.live) this.#step(session, {type: 'gone'});
	}

	/** Codex has named the thread of a turn. */
	threadKnown(key: string, threadId: unknown): void {
		const job = this.requests.find(key);
		if (job && typeof threadId === 'string' && threadId !== '')
			this.#options.sessions.noteThread(job.session, threadId);
	}

	/** Codex has begun with a turn. */
	turnStarted(key: string): void {
		this.requests.find(key)?.started();
	}

	/** Codex has answered. */
	answered(key: string, answer: Envelope): void {
		const job = this.requests.find(key);
		if (!job) return;
		this.requests.forget(job);
		const report = readReport(answer);
		const {startAgain} = job.ask;
		const isLost = report.status === 'unknown_thread' || report.status === 'retired';
		const isStopping = job.session.turns.stopping !== undefined;
		if (isLost && startAgain && job.attempts === 1 && !isStopping) void this.#startAgain(job, startAgain);
		else this.#over(job, report);
	}

	#step(session: Session, event: TurnEvent): void {
		const {state, actions} = nextTurns(session.turns, event);
		session.turns = state;
		for (const action of actions) this.#act(session, action);
	}

	#act(session: Session, action: TurnAction): void {
		if (action.type === 'closed') {
			void this.#ended(session, action.how);
			return;
		}
		const isSummary = action.type === 'start' && action.turn === SUMMARY;
		const job = isSummary ? new Job(summaryAsk(session)) : this.#jobsOf(session).get(action.turn.id);
		if (!job) return;
		if (isSummary) this.#jobsOf(session).set(SUMMARY.id, job);
		if (action.type === 'start') this.#start(job);
		else if (action.type === 'stop') this.#stop(job, action.reason);
		else this.#refuse(job, action.reason);
	}

	#start(job: Job): void {
		const {session} = job;
		const {tool, turn, arguments: args} = job.ask;
		const {timeoutMs, sessions} = this.#options;
		job.apply();
		if (session.life.stage === 'idle') sessions.passed(session, 'turn_started');
		if (timeoutMs > 0 && turn !== SUMMARY)
			job.limitTo(timeoutMs, () => this.#step(session, {type: 'timeout', id: turn.id}));
		if (tool === 'codex') this.requests.send(job, tool, args);
		else if (session.threadId === null) this.#over(job, failedReport('The session has no thread.'), false);
		else this.requests.send(job, tool, {...args, threadId: session.threadId});
	}

	#stop(job: Job, reason: string): void {
		const {stopMs = STOP_MS} = this.#options;
		this.#options.journal?.noted(reason === 'timeout' ? 'timeout' : 'cancel', job.ask, reason);
		this.requests.cancel(job, reason);
		// Nobody waits longer than this for Codex to say that it has stopped.
		job.awaitStop(stopMs, () => this.#over(job, silentReport));
	}

	#refuse(job: Job, reason: RefusalReason): void {
		this.#settle(job);
		this.#options.journal?.noted('refusal', job.ask, reason);
		job.ask.answer(refusedResult(reason, job.session, this.death, job.partial), reason);
	}

	/** Codex does not know the thread: another one takes its place. */
	async #startAgain(job: Job, make: () => Promise<Restart>): Promise<void> {
		const {session} = job;
		try {
			const {arguments: args, context} = await make();
			job.resumed = {context, previousThreadId: session.threadId};
			if (this.#jobsOf(session).get(job.ask.turn.id) !== job) return;
			if (session.turns.stopping === undefined) this.requests.send(job, 'codex', args);
			else this.#over(job, silentReport, true);
		} catch (error) {
			if (this.#jobsOf(session).get(job.ask.turn.id) !== job) return;
			this.#over(job, failedReport(asRefusal(error).message));
		}
	}

	/** A turn has ended: its caller is answered, and the next one may begin. */
	#over(job: Job, report: TurnReport, isConfirmed = report.isConfirmed): void {
		const {session, ask} = job;
		const {id} = ask.turn;
		this.#settle(job);
		if (ask.turn === SUMMARY) {
			const kept = keepSummary(session, report, this.#options);
			void kept.then(isWell => this.#step(session, {type: 'ended', id, isConfirmed, isWell}));
			return;
		}
		if (report.threadId !== undefined) this.#options.sessions.noteThread(session, report.threadId);
		const result = this.#resultOf(job, report);
		const isWell = report.status === 'completed';
		if (!isWell) job.failed();
		if (session.threadId === null) this.#failed(session, id);
		else {
			const patch = {turns: session.entry.turns + 1, ...lastText(report)};
			if (job.changesSession) this.#options.sessions.happened(session, 'turn_ended', patch);
			else this.#options.sessions.passed(session, 'turn_ended', patch);
			this.#step(session, {type: 'ended', id, isConfirmed, isWell});
		}
		const answer = (): void => {
			ask.answer(result, report.status);
			this.onTurnOver(ask);
		};
		if (job.changesSession) void session.saved.then(answer);
		else answer();
	}

	#resultOf(job: Job, report: TurnReport) {
		const {session, ask} = job;
		const {stopping} = session.turns;
		if (stopping !== undefined && report.status !== 'completed')
			return stoppedResult(stopping, report, session, this.#options.timeoutMs);
		if (ask.isResume && !job.resumed) job.resumed = {context: 'thread', previousThreadId: session.threadId};
		return turnResult(report, session, {resumed: job.resumed, notice: ask.notice});
	}

	/** A session without a thread is none. Whoever waits for it is told so. */
	#failed(session: Session, id: string): void {
		session.hasFailed = true;
		this.#step(session, {type: 'close', wantsSummary: false});
		this.#step(session, {type: 'ended', id, isConfirmed: false, isWell: false});
	}

	async #ended(session: Session, how: Ending): Promise<void> {
		const {sessions, log} = this.#options;
		for (const job of [...this.#jobsOf(session).values()]) this.#refuse(job, this.death ? 'gone' : 'closed');
		try {
			if (session.hasFailed) await sessions.abandon(session);
			else await sessions.end(session, this.death ? 'child_gone' : how);
		} catch (error) {
			logBug(log, error);
		}
		this.#closings.get(session)?.(how);
		this.#closings.delete(session);
	}

	#settle(job: Job): void {
		job.settle();
		this.requests.forget(job);
		this.#jobsOf(job.session).delete(job.ask.turn.id);
	}

	#jobsOf(session: Session): Map<string, Job> {
		const jobs = this.#jobs.get(session) ?? new Map<string, Job>();
		this.#jobs.set(session, jobs);
		return jobs;
	}
}
