import type {JsonObject} from '../../util/json.js';
import {initialLifecycle, type LifecycleState, sessionStateOf} from './lifecycle.js';
import type {RepoContext} from './session-context.js';
import {emptyTurnQueue, type TurnQueue} from './turn-queue.js';
import type {SessionEntry} from './types.js';

export type SessionEnding = 'closed' | 'interrupted';

/** A live session of this process: its registry entry and the state that exists only while Codex runs. */
export class CodexSession {
	/** The registry entry. Replaced, never mutated. */
	entry: SessionEntry;
	lifecycle: LifecycleState = initialLifecycle;
	turnQueue: TurnQueue;
	/** The entry before the session was resumed; undefined for a new session. */
	readonly previousEntry: SessionEntry | undefined;
	/** The client's arguments for Codex, kept in case a new thread has to be started. */
	launchArguments: JsonObject = {};
	/** The repository context that was last sent to Codex. */
	sentContext: RepoContext;
	/** Serializes the preparation of calls, so that they keep their order. */
	preparationQueue: Promise<unknown> = Promise.resolve();
	/** Resolves when all changes made so far are on disk. */
	saved: Promise<unknown> = Promise.resolve();
	/** The number of client calls that are being prepared. */
	preparingCount = 0;
	readonly openedAtMs = Date.now();
	/** Whether the first turn ended without a thread. The session is then discarded. */
	hasFailedToStart = false;
	/** Resolves when the session has ended. Set when closing starts. */
	closing: Promise<SessionEnding> | undefined;

	constructor(entry: SessionEntry, maxQueued: number, previousEntry?: SessionEntry) {
		this.entry = entry;
		this.previousEntry = previousEntry;
		this.turnQueue = emptyTurnQueue(maxQueued);
		const {repo_root, repo_name, branch} = entry;
		this.sentContext = {repo_root, repo_name, branch};
	}

	get codexId(): string {
		return this.entry.codex_id;
	}

	get identity(): string {
		return this.entry.identity;
	}

	get threadId(): string | null {
		return this.entry.thread_id;
	}

	/** Whether no turn is running, queued or being prepared, so that mail may start one. */
	get isIdle(): boolean {
		const {running, queue, phase} = this.turnQueue;
		const isQuiet =
			this.lifecycle.stage === 'idle' && !running && queue.length === 0 && this.preparingCount === 0;
		return isQuiet && phase === 'open' && this.closing === undefined;
	}

	/** Applies a patch and returns the new registry entry. Does not save it. */
	update(patch: Partial<SessionEntry>): SessionEntry {
		this.entry = {
			...this.entry,
			...patch,
			status: this.lifecycle.status,
			state: sessionStateOf(this.lifecycle),
		};
		return this.entry;
	}
}
