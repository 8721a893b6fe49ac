import type {JsonObject} from '../../util/json.js';
import {initialLifecycle, type LifecycleState, sessionStateOf} from './lifecycle.js';
import type {RepoContext} from './session-context.js';
import {emptyTurnQueue, type TurnQueue} from './turn-queue.js';
import type {SessionEntry} from './types.js';

/** How a session ended. */
export type SessionEnding = 'closed' | 'interrupted';

/** A session of this process: what the registry knows of it, and what only lives as long as Codex does. */
export class CodexSession {
	/** What the registry says of it. Replaced, never changed. */
	entry: SessionEntry;
	lifecycle: LifecycleState = initialLifecycle;
	turnQueue: TurnQueue;
	/** What it was before it was resumed. */
	readonly previousEntry: SessionEntry | undefined;
	/** What its caller had for Codex, kept for when a thread has to be started anew. */
	launchArguments: JsonObject = {};
	/** Where it was last told that it is. */
	sentContext: RepoContext;
	/** Calls are made ready one after the other, so that they stay in their order. */
	preparationQueue: Promise<unknown> = Promise.resolve();
	/** Resolves when all that the registry has to know so far is on disk. */
	saved: Promise<unknown> = Promise.resolve();
	/** Calls of the client that are being made ready for their turn. */
	preparingCount = 0;
	/** Since when it is there, in this process. */
	readonly openedAtMs = Date.now();
	/** Whether its first turn ended without a thread: then there was no session. */
	hasFailedToStart = false;
	/** How it ends, once somebody wants that. */
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

	/** Whether nobody wants a turn of it, so that mail may have one. */
	get isIdle(): boolean {
		const {running, queue, phase} = this.turnQueue;
		const isQuiet =
			this.lifecycle.stage === 'idle' && !running && queue.length === 0 && this.preparingCount === 0;
		return isQuiet && phase === 'open' && this.closing === undefined;
	}

	/** What is in the registry now, with what has changed. */
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
