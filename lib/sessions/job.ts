import type {Origin} from '../envelope.js';
import type {JsonObject} from '../protocol/json.js';
import type {Resumed} from './outcome.js';
import type {Session} from './session.js';
import {TurnClock} from './turn-clock.js';
import type {TurnReport} from './turn-report.js';
import type {RefusalReason, Turn} from './turns.js';
import type {AuditDetails} from './types.js';

/** What became of a turn: how it ended, or why it was not run. */
export type TurnOver = TurnReport['status'] | RefusalReason;

/** A turn that somebody wants, and all that it takes. */
export type Ask = {
	readonly session: Session;
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
	readonly origin?: Origin | undefined;
	/** Makes the call that begins a new thread, where Codex does not know the old one any more. */
	readonly startAgain?: (() => Promise<Restart>) | undefined;
	/** What a thread is to go on with that Codex has to load first: folder, model and the like. */
	readonly resumeWith?: JsonObject | undefined;
	/** Settings that this turn and later ones of the session are to have, where Codex can change them. */
	readonly turnWith?: JsonObject | undefined;
	/**
	 * Applies the settings of the call to the session, and returns a function that restores those of before. Called when Codex is
	 * asked for the turn, so not for a call that never runs.
	 */
	readonly apply?: (() => () => void) | undefined;
	/** What the caller has to know beside the result. */
	readonly notice?: string | undefined;
	/** Whether a session of before goes on with this. */
	readonly isResume?: boolean | undefined;
	/** Takes the result of the call, and what became of its turn. */
	readonly answer: (result: JsonObject, how: TurnOver) => void;
	/** Told when Codex has begun with it. */
	readonly onStarted?: (() => void) | undefined;
};

/** A thread that takes the place of another one. */
export type Restart = {readonly arguments: JsonObject; readonly context: Resumed['context']};

/** A turn on its way. */
export class Job {
	readonly ask: Ask;
	/** The id that Codex is asked under at present. */
	request: string | undefined;
	/** What the session has of what was before, once that is known. */
	resumed: Resumed | undefined;
	/** What the agent had said when Codex ended in the midst of the turn. */
	partial = '';
	/** How often Codex was asked for this turn. */
	attempts = 0;
	#hasStarted = false;
	#restore: (() => void) | undefined;
	#clock: TurnClock | undefined;
	#grace: NodeJS.Timeout | undefined;

	constructor(ask: Ask) {
		this.ask = ask;
	}

	get session(): Session {
		return this.ask.session;
	}

	/** Whether the turn sets the thread or the settings of its session: the registry is saved before the response. */
	get changesSession(): boolean {
		const {tool, isResume, apply} = this.ask;
		return tool === 'codex' || isResume === true || apply !== undefined || this.resumed !== undefined;
	}

	/** Applies the settings of the call to the session. */
	apply(): void {
		this.#restore = this.ask.apply?.();
	}

	/** Codex has begun with the turn. */
	started(): void {
		this.#hasStarted = true;
		this.ask.onStarted?.();
	}

	/** The turn was not completed. The settings of a turn that Codex did not start are not those of the session. */
	failed(): void {
		if (!this.#hasStarted) this.#restore?.();
	}

	/** The time for the turn begins. */
	limitTo(ms: number, onLate: () => void): void {
		this.#clock = new TurnClock(ms, onLate);
	}

	/** The client is asked for something, which takes no time of the turn. */
	hold(question: string): void {
		this.#clock?.hold(question);
	}

	release(question: string): void {
		this.#clock?.release(question);
	}

	/** The time that Codex has to stop begins. */
	awaitStop(ms: number, onLate: () => void): void {
		this.#grace = setTimeout(onLate, ms);
	}

	/** It is over: no time runs any more. */
	settle(): void {
		this.#clock?.stop();
		clearTimeout(this.#grace);
	}
}
