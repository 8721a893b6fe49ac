import type {Origin} from '../envelope.js';
import type {JsonObject} from '../protocol/json.js';
import type {Resumed} from './outcome.js';
import type {Session} from './session.js';
import type {TurnReport} from './turn-report.js';
import type {RefusalReason, Turn} from './turns.js';

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
	/** What all that the audit says of this call has in common. */
	readonly correlationId: string;
	readonly meta?: JsonObject | undefined;
	readonly origin?: Origin | undefined;
	/** Makes the call that begins a new thread, where Codex does not know the old one any more. */
	readonly startAgain?: (() => Promise<Restart>) | undefined;
	/** What a thread is to go on with that Codex has to load first: folder, model and the like. */
	readonly resumeWith?: JsonObject | undefined;
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
	/** How often Codex was asked for this turn. */
	attempts = 0;
	#limit: NodeJS.Timeout | undefined;
	#grace: NodeJS.Timeout | undefined;

	constructor(ask: Ask) {
		this.ask = ask;
	}

	get session(): Session {
		return this.ask.session;
	}

	/** Whether the caller learns of a thread by this: the registry has to know of it before. */
	get namesThread(): boolean {
		return this.ask.tool === 'codex' || this.ask.isResume === true || this.resumed !== undefined;
	}

	/** The time for the turn begins. */
	limitTo(ms: number, onLate: () => void): void {
		this.#limit = setTimeout(onLate, ms);
	}

	/** The time that Codex has to stop begins. */
	awaitStop(ms: number, onLate: () => void): void {
		this.#grace = setTimeout(onLate, ms);
	}

	/** It is over: no time runs any more. */
	settle(): void {
		clearTimeout(this.#limit);
		clearTimeout(this.#grace);
	}
}
