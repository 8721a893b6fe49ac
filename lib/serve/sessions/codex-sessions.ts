import {randomUUID} from 'node:crypto';
import type {Log} from '../../core/log.js';
import type {ServeConfig} from '../config/types.js';
import type {RosterRegistration} from '../mail/roster-registration.js';
import {CodexSession} from './codex-session.js';
import {
	addClaim,
	claimingCodexId,
	type IdentityClaims,
	remoteIdentityConflict,
	removeClaim,
} from './identity.js';
import {type LifecycleEvent, nextLifecycle} from './lifecycle.js';
import type {SessionRegistry} from './session-registry.js';
import {ToolError} from './tool-error.js';
import type {SessionEntry} from './types.js';

type CodexSessionsOptions = {
	readonly config: ServeConfig;
	readonly registry: SessionRegistry;
	readonly log: Log;
	readonly roster?: Pick<RosterRegistration, 'join' | 'leave'>;
	readonly now?: () => Date;
};

type NewSessionOptions = Pick<SessionEntry, 'identity' | 'cwd' | 'tag' | 'role' | 'role_named'> & {
	readonly autoMail: boolean | undefined;
};

const WRITE_DELAY_MS = 250;

/** The live sessions of this process. Each identity belongs to at most one session. */
export class CodexSessions {
	readonly config: ServeConfig;
	readonly registry: SessionRegistry;
	readonly #log: Log;
	readonly #now: () => Date;
	readonly #roster: CodexSessionsOptions['roster'];
	readonly #live = new Map<string, CodexSession>();
	#claims: IdentityClaims = new Map();
	/** Pending releases, by identity. */
	readonly #releasing = new Map<string, Promise<void>>();
	/** Sessions with changes for the next deferred write. */
	readonly #unwritten = new Set<CodexSession>();
	#writeTimer: NodeJS.Timeout | undefined;
	/** Whether shutdown has begun. Active sessions are then saved as interrupted. */
	#isShuttingDown = false;

	constructor({config, registry, log, roster, now = () => new Date()}: CodexSessionsOptions) {
		this.config = config;
		this.registry = registry;
		this.#log = log;
		this.#roster = roster;
		this.#now = now;
	}

	get live(): readonly CodexSession[] {
		return [...this.#live.values()];
	}

	/** Creates a session. Claims the identity synchronously, so that concurrent calls cannot claim it twice. */
	create({identity, cwd, tag, role, role_named: isNamed, autoMail}: NewSessionOptions): CodexSession {
		const now = this.#now().toISOString();
		return this.#register({
			codex_id: `codex:${randomUUID()}`,
			thread_id: null,
			previous_thread_ids: [],
			identity,
			team: this.config.team,
			repo_root: null,
			repo_name: null,
			branch: null,
			cwd,
			started_at: now,
			last_active: now,
			status: 'active',
			state: 'busy',
			tag,
			role,
			turns: 0,
			last_text: null,
			...(autoMail === undefined ? {} : {auto_mail: autoMail}),
			...(isNamed ? {role_named: true} : {}),
		});
	}

	/** Makes an earlier session live again, with its identity. */
	resume(entry: SessionEntry): CodexSession {
		return this.#register({...entry, status: 'active', state: 'busy'}, entry);
	}

	#register(entry: SessionEntry, previousEntry?: SessionEntry): CodexSession {
		const {maxConcurrentThreads, maxQueuedTurns} = this.config;
		const {identity, codex_id: codexId} = entry;
		this.#claims = addClaim(this.#claims, {identity, codexId}, maxConcurrentThreads, {
			isResume: previousEntry !== undefined,
			isClosing: claimant => this.#live.get(claimant)?.closing !== undefined,
		});
		const session = new CodexSession(entry, maxQueuedTurns, previousEntry);
		this.#live.set(codexId, session);
		return session;
	}

	/** Locks the identity against other processes and saves the session. */
	async reserveIdentity(session: CodexSession): Promise<void> {
		const {identity, codexId} = session;
		await this.#releasing.get(identity)?.catch(() => {});
		const reservation = await this.registry.reserve(identity, codexId);
		if (!reservation.isReserved)
			throw remoteIdentityConflict(identity, reservation.owner.codexId, reservation.owner.pid, {
				isResume: session.previousEntry !== undefined,
			});
		// The session may have been closed meanwhile. The caller then discards it and releases the identity.
		if (!this.#live.has(codexId))
			throw new ToolError('session_closed', `The session ${codexId} (${identity}) was closed.`);
		await this.joinRoster(session);
		this.save(session, {});
	}

	/** Ensures that the session is on the team's roster. Other programs may have removed it. */
	async joinRoster(session: CodexSession): Promise<void> {
		const {identity, codexId, entry, launchArguments} = session;
		if (!this.#roster || session.closing !== undefined) return;
		const model = launchArguments.model ?? this.config.model;
		const modelName = typeof model === 'string' ? model : undefined;
		await this.#roster.join({identity, codexId, cwd: entry.cwd, model: modelName});
		if (!this.#live.has(codexId)) await this.#roster.leave(identity);
	}

	/** Applies a lifecycle event and a patch, and starts saving them. */
	applyEvent(session: CodexSession, event: LifecycleEvent, patch: Partial<SessionEntry> = {}): void {
		const isStart = event === 'thread_known' && session.lifecycle.stage === 'starting';
		session.lifecycle = nextLifecycle(session.lifecycle, event);
		this.save(session, {...patch, last_active: this.#now().toISOString()});
		if (!isStart) return;
		const name = session.previousEntry ? 'resumed' : 'started';
		this.#log.info(`session.${name}`, `The session ${session.identity} was ${name}.`, idsOf(session));
	}

	/** Sets the thread of a session. An earlier thread is kept in `previous_thread_ids`. */
	setThread(session: CodexSession, threadId: string): void {
		const {thread_id: old, previous_thread_ids: previous} = session.entry;
		if (old === threadId && session.lifecycle.stage !== 'starting') return;
		const isOther = old !== null && old !== threadId;
		this.applyEvent(session, 'thread_known', {
			thread_id: threadId,
			previous_thread_ids: isOther ? [...previous, old] : previous,
		});
	}

	/**
	 * Like `applyEvent`, for events of every turn that do not matter after a crash. Writes are batched, so that
	 * turns do not wait for the disk.
	 */
	applyEventDeferred(session: CodexSession, event: LifecycleEvent, patch: Partial<SessionEntry> = {}): void {
		session.lifecycle = nextLifecycle(session.lifecycle, event);
		session.update({...patch, last_active: this.#now().toISOString()});
		this.#unwritten.add(session);
		this.#writeTimer ??= setTimeout(() => this.#writeDeferred(), WRITE_DELAY_MS).unref();
	}

	#writeDeferred(): void {
		this.#writeTimer = undefined;
		const sessions = [...this.#unwritten];
		this.#unwritten.clear();
		for (const session of sessions) if (this.#live.has(session.codexId)) this.save(session, {});
	}

	/** All entries of the registry, with unsaved changes of live sessions. */
	entries(): SessionEntry[] {
		return this.registry.entries().map(entry => this.#live.get(entry.codex_id)?.entry ?? entry);
	}

	/** Starts saving a change. Await `session.saved` for durability. */
	save(session: CodexSession, patch: Partial<SessionEntry>): void {
		this.#persist(session, session.update(patch));
	}

	/** Saves all live sessions as interrupted. Sessions that close properly are saved again later. */
	async markAllInterrupted(): Promise<void> {
		this.#isShuttingDown = true;
		for (const session of this.live) this.save(session, {});
		await Promise.all(this.live.map(({saved}) => saved));
	}

	#persist(session: CodexSession, entry: SessionEntry): void {
		const isInterrupted = this.#isShuttingDown && entry.status === 'active';
		const written: SessionEntry = isInterrupted ? {...entry, status: 'interrupted', state: 'closed'} : entry;
		this.#unwritten.delete(session);
		const saving = this.registry.put(written).catch(error => {
			const sentence = `The session ${session.codexId} could not be written to the registry: ${(error as Error).message}.`;
			this.#log.error('registry.not_saved', sentence, {codex_id: session.codexId});
		});
		session.saved = Promise.all([session.saved, saving]).then(() => {});
	}

	/** Undoes a session that failed to start: restores its previous entry, or removes it from the registry. */
	discard(session: CodexSession): Promise<void> {
		return this.#release(session, async () => {
			await session.saved;
			if (session.previousEntry) this.#persist(session, session.previousEntry);
			else await this.registry.remove(session.codexId).catch(() => {});
		});
	}

	/** Ends a session. Resolves when its identity is released. */
	end(session: CodexSession, event: 'closed' | 'interrupted' | 'child_exited'): Promise<void> {
		this.applyEvent(session, event);
		const {status} = session.entry;
		const sentence = `The session ${session.identity} has ended: ${status}.`;
		this.#log.info('session.ended', sentence, {...idsOf(session), status});
		return this.#release(session, async () => {});
	}

	/** Later reservations of the identity wait until this release completes. */
	#release(session: CodexSession, finalSave: () => Promise<void>): Promise<void> {
		const {identity} = session;
		this.#live.delete(session.codexId);
		this.#claims = removeClaim(this.#claims, session);
		const releasing = finalSave()
			.then(() => session.saved)
			.then(() => this.#roster?.leave(identity))
			.then(() => this.registry.release(identity))
			.finally(() => {
				if (this.#releasing.get(identity) === releasing) this.#releasing.delete(identity);
			});
		this.#releasing.set(identity, releasing);
		return releasing;
	}

	/** Finds a live session by codex id, thread id or identity. */
	findLive(ref: string): CodexSession | undefined {
		const session = this.#live.get(ref) ?? this.#live.get(claimingCodexId(this.#claims, ref) ?? '');
		return session ?? this.live.find(({entry}) => entry.thread_id === ref);
	}

	/** Returns the entry of a session by codex id, thread id or identity. Throws if there is none. */
	requireEntry(ref: string): SessionEntry {
		const entry = this.findLive(ref)?.entry ?? this.registry.find(ref);
		if (entry) return entry;
		const active = this.live.map(({identity, codexId}) => `${identity} (${codexId})`);
		const available = active.length === 0 ? 'No session is active' : `Active sessions: ${active.join(', ')}`;
		throw new ToolError(
			'session_not_found',
			`No session ${JSON.stringify(ref.slice(0, 200))} was found. ${available}. codex_threads lists earlier sessions.`,
			{codex_id: ref.slice(0, 200)},
		);
	}

	findByThread(threadId: unknown): CodexSession | undefined {
		return typeof threadId === 'string'
			? this.live.find(session => session.threadId === threadId)
			: undefined;
	}
}

const idsOf = ({codexId, identity, threadId}: CodexSession) => ({
	codex_id: codexId,
	identity,
	thread_id: threadId,
});
