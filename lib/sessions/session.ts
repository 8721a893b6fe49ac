import type {JsonObject} from '../protocol/json.js';
import type {RepoContext} from './context.js';
import {type Life, newLife, stateOf} from './lifecycle.js';
import {noTurns, type Turns} from './turns.js';
import type {SessionEntry} from './types.js';

/** How a session ended. */
export type Ending = 'closed' | 'interrupted';

/** A session of this process: what the registry knows of it, and what only lives as long as Codex does. */
export class Session {
	/** What the registry says of it. Replaced, never changed. */
	entry: SessionEntry;
	life: Life = newLife;
	turns: Turns;
	/** What it was before it was resumed. */
	readonly before: SessionEntry | undefined;
	/** What its caller had for Codex, kept for when a thread has to be started anew. */
	launch: JsonObject = {};
	/** Where it was last told that it is. */
	told: RepoContext;
	/** Calls are made ready one after the other, so that they stay in their order. */
	order: Promise<unknown> = Promise.resolve();
	/** Resolves when all that the registry has to know so far is on disk. */
	saved: Promise<unknown> = Promise.resolve();
	/** Calls of the client that are being made ready for their turn. */
	preparing = 0;
	/** Since when it is there, in this process. */
	readonly since = Date.now();
	/** Whether its first turn ended without a thread: then there was no session. */
	hasFailed = false;
	/** How it ends, once somebody wants that. */
	closing: Promise<Ending> | undefined;

	constructor(entry: SessionEntry, maxQueued: number, before?: SessionEntry) {
		this.entry = entry;
		this.before = before;
		this.turns = noTurns(maxQueued);
		const {repo_root, repo_name, branch} = entry;
		this.told = {repo_root, repo_name, branch};
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
	get isFree(): boolean {
		const {running, queue, phase} = this.turns;
		const isQuiet = this.life.stage === 'idle' && !running && queue.length === 0 && this.preparing === 0;
		return isQuiet && phase === 'open' && this.closing === undefined;
	}

	/** What is in the registry now, with what has changed. */
	changed(patch: Partial<SessionEntry>): SessionEntry {
		this.entry = {...this.entry, ...patch, status: this.life.status, state: stateOf(this.life)};
		return this.entry;
	}
}
