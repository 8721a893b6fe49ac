import type {MessageOrigin} from '../../core/envelope.js';
import type {JsonObject} from '../../util/json.js';
import type {CodexSession} from './codex-session.js';
import type {Turn, TurnRejectionReason} from './turn-queue.js';
import type {TurnReport} from './turn-report.js';
import type {ResumeResult} from './turn-results.js';
import {TurnTimer} from './turn-timer.js';
import type {AuditDetails} from './types.js';

export type TurnOutcome = TurnReport['status'] | TurnRejectionReason;

/** A requested turn, with everything needed to run it. */
export type TurnRequest = {
	readonly session: CodexSession;
	readonly turn: Turn;
	readonly tool: 'codex' | 'codex-reply';
	/** Arguments for Codex. The thread id of a reply is added when the turn starts. */
	readonly arguments: JsonObject;
	/** The original prompt, for the audit file. */
	readonly prompt: string;
	/** Further details for the audit file. */
	readonly details?: AuditDetails | undefined;
	/** Shared by all audit entries of this call. */
	readonly correlationId: string;
	readonly meta?: JsonObject | undefined;
	readonly origin?: MessageOrigin | undefined;
	/** Builds the call that starts a new thread if Codex can no longer use the old one. */
	readonly prepareNewThread?: (() => Promise<NewThread>) | undefined;
	/** Settings for loading a thread that Codex does not have in memory, such as folder and model. */
	readonly resumeSettings?: JsonObject | undefined;
	/** Settings for this turn and later ones, if Codex can change them. */
	readonly turnSettings?: JsonObject | undefined;
	/**
	 * Applies the settings of the call to the session. Returns a function that restores the previous ones.
	 * Invoked when the turn starts, so a call that never runs changes nothing.
	 */
	readonly applySettings?: (() => () => void) | undefined;
	/** A note to add to the result. */
	readonly notice?: string | undefined;
	/** Whether this turn resumes an earlier session. */
	readonly isResume?: boolean | undefined;
	/** Receives the result of the call and the outcome of its turn. */
	readonly respond: (result: JsonObject, outcome: TurnOutcome) => void;
	/** Invoked when Codex has started the turn. */
	readonly onStarted?: (() => void) | undefined;
};

/** The call that starts a replacement thread. */
export type NewThread = {readonly arguments: JsonObject; readonly context: ResumeResult['context']};

/** A turn from its submission to its end. */
export class TurnRun {
	readonly turnRequest: TurnRequest;
	/** The id of the pending request to Codex. */
	requestId: string | undefined;
	/** Set when a session was resumed or its thread replaced. */
	resumed: ResumeResult | undefined;
	/** The agent's partial text, if Codex exits during the turn. */
	partialText = '';
	/** The number of requests sent to Codex for this turn. */
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

	/** Whether the turn changes the thread or settings. The registry is then saved before the response. */
	get changesSession(): boolean {
		const {tool, isResume, applySettings: apply} = this.turnRequest;
		return tool === 'codex' || isResume === true || apply !== undefined || this.resumed !== undefined;
	}

	applySettings(): void {
		this.#restoreSettings = this.turnRequest.applySettings?.();
	}

	markStarted(): void {
		this.#hasStarted = true;
		this.turnRequest.onStarted?.();
	}

	/** Restores the settings if Codex did not start the turn. */
	restoreUnlessStarted(): void {
		if (!this.#hasStarted) this.#restoreSettings?.();
	}

	startTimeLimit(ms: number, onTimeout: () => void): void {
		this.#timeLimit = new TurnTimer(ms, onTimeout);
	}

	/** Pauses the limit while a request to the client is pending. */
	pauseTimeLimit(requestKey: string): void {
		this.#timeLimit?.pause(requestKey);
	}

	resumeTimeLimit(requestKey: string): void {
		this.#timeLimit?.resume(requestKey);
	}

	startStopTimer(ms: number, onTimeout: () => void): void {
		this.#stopTimer = setTimeout(onTimeout, ms);
	}

	clearTimers(): void {
		this.#timeLimit?.stop();
		clearTimeout(this.#stopTimer);
	}
}
