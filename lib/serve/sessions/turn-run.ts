import type {MessageOrigin} from '../../core/envelope.js';
import type {JsonObject} from '../../util/json.js';
import type {CodexSession} from './codex-session.js';
import type {Turn, TurnRejectionReason} from './turn-queue.js';
import type {TurnReport} from './turn-report.js';
import type {ResumeResult} from './turn-results.js';
import {TurnTimer} from './turn-timer.js';
import type {AuditDetails} from './types.js';

/** What became of a turn: how it ended, or why it was not run. */
export type TurnOutcome = TurnReport['status'] | TurnRejectionReason;

/** A turn that somebody wants, and all that it takes. */
export type TurnRequest = {
	readonly session: CodexSession;
	readonly turn: Turn;
	readonly tool: 'codex' | 'codex-reply';
	/** What Codex is to be told, but for the thread of a reply. */
	readonly arguments: JsonObject;
	/** What was asked, for the audit. */
	readonly prompt: string;
	/** Further facts about it, for the audit. */
	readonly details?: AuditDetails | undefined;
	/** What all that the audit says of this call has in common. */
	readonly correlationId: string;
	readonly meta?: JsonObject | undefined;
	readonly origin?: MessageOrigin | undefined;
	/** Makes the call that begins a new thread, where Codex does not know the old one any more. */
	readonly prepareNewThread?: (() => Promise<NewThread>) | undefined;
	/** What a thread is to go on with that Codex has to load first: folder, model and the like. */
	readonly resumeSettings?: JsonObject | undefined;
	/** Settings that this turn and later ones of the session are to have, where Codex can change them. */
	readonly turnSettings?: JsonObject | undefined;
	/**
	 * Applies the settings of the call to the session, and returns a function that restores those of before. Called when Codex is
	 * asked for the turn, so not for a call that never runs.
	 */
	readonly applySettings?: (() => () => void) | undefined;
	/** What the caller has to know beside the result. */
	readonly notice?: string | undefined;
	/** Whether a session of before goes on with this. */
	readonly isResume?: boolean | undefined;
	/** Takes the result of the call, and what became of its turn. */
	readonly respond: (result: JsonObject, outcome: TurnOutcome) => void;
	/** Told when Codex has begun with it. */
	readonly onStarted?: (() => void) | undefined;
};

/** A thread that takes the place of another one. */
export type NewThread = {readonly arguments: JsonObject; readonly context: ResumeResult['context']};

/** A turn on its way. */
export class TurnRun {
	readonly turnRequest: TurnRequest;
	/** The id that Codex is asked under at present. */
	requestId: string | undefined;
	/** What the session has of what was before, once that is known. */
	resumed: ResumeResult | undefined;
	/** What the agent had said when Codex ended in the midst of the turn. */
	partialText = '';
	/** How often Codex was asked for this turn. */
	attempts = 0;
	#hasStarted = false;
	#restoreSettings: (() => void) | undefined;
	#timeLimit: TurnTimer | undefined;
	#stopTimer: NodeJS.Timeout | undefined;

	constructor(turnRequest: TurnRequest) {
		this.turnRequest = turnRequest;
	}

	get session(): CodexSession {
		return this.turnRequest.session;
	}

	/** Whether the turn sets the thread or the settings of its session: the registry is saved before the response. */
	get changesSession(): boolean {
		const {tool, isResume, applySettings: apply} = this.turnRequest;
		return tool === 'codex' || isResume === true || apply !== undefined || this.resumed !== undefined;
	}

	/** Applies the settings of the call to the session. */
	applySettings(): void {
		this.#restoreSettings = this.turnRequest.applySettings?.();
	}

	/** Codex has begun with the turn. */
	markStarted(): void {
		this.#hasStarted = true;
		this.turnRequest.onStarted?.();
	}

	/** The turn was not completed. The settings of a turn that Codex did not start are not those of the session. */
	restoreUnlessStarted(): void {
		if (!this.#hasStarted) this.#restoreSettings?.();
	}

	/** The time for the turn begins. */
	startTimeLimit(ms: number, onTimeout: () => void): void {
		this.#timeLimit = new TurnTimer(ms, onTimeout);
	}

	/** The client is asked for something, which takes no time of the turn. */
	pauseTimeLimit(requestKey: string): void {
		this.#timeLimit?.pause(requestKey);
	}

	resumeTimeLimit(requestKey: string): void {
		this.#timeLimit?.resume(requestKey);
	}

	/** The time that Codex has to stop begins. */
	startStopTimer(ms: number, onTimeout: () => void): void {
		this.#stopTimer = setTimeout(onTimeout, ms);
	}

	/** It is over: no time runs any more. */
	clearTimers(): void {
		this.#timeLimit?.stop();
		clearTimeout(this.#stopTimer);
	}
}
