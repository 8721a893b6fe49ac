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
	/** The team's list of members. */
	readonly roster?: Pick<RosterRegistration, 'join' | 'leave'>;
	readonly now?: () => Date;
};

/** What is known of a session before it has begun. */
type NewSessionOptions = Pick<SessionEntry, 'identity' | 'cwd' | 'tag' | 'role' | 'role_named'> & {
	readonly autoMail: boolean | undefined;
};

/** How long the registry's file may lag behind turns. */
const WRITE_DELAY_MS = 250;

/** The sessions that this process has, each with an identity that nobody else has. */
export class CodexSessions {
	readonly config: ServeConfig;
	readonly registry: SessionRegistry;
	readonly #log: Log;
	readonly #now: () => Date;
	readonly #roster: CodexSessionsOptions['roster'];
	readonly #live = new Map<string, CodexSession>();
	#claims: IdentityClaims = new Map();
	/** Identities that are about to be given back. */
	readonly #releasing = new Map<string, Promise<void>>();
	/** Sessions of which something is to be written soon. */
	readonly #unwritten = new Set<CodexSession>();
	#writeTimer: NodeJS.Timeout | undefined;
	/** Whether this process is about to end: what is active until then may be cut off at any time. */
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

	/** A new session. Its identity is taken before anybody else can ask for it. */
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

	/** A session of before, with the identity that it had. */
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

	/** Takes the identity against other processes, too, and writes the session down. */
	async reserveIdentity(session: CodexSession): Promise<void> {
		const {identity, codexId} = session;
		await this.#releasing.get(identity)?.catch(() => {});
		const reservation = await this.registry.reserve(identity, codexId);
		if (!reservation.isHeld)
			throw remoteIdentityConflict(identity, reservation.holder.codexId, reservation.holder.pid, {
				isResume: session.previousEntry !== undefined,
			});
		// It may have been closed meanwhile, and what was taken just now has to be given back.
		if (!this.#live.has(codexId))
			throw new ToolError('session_closed', `The session ${codexId} (${identity}) was closed.`);
		await this.joinRoster(session);
		this.save(session, {});
	}

	/** Sees to it that the session is on the team's list of members. Others may have taken it off. */
	async joinRoster(session: CodexSession): Promise<void> {
		const {identity, codexId, entry, launchArguments} = session;
		if (!this.#roster || session.closing !== undefined) return;
		const model = launchArguments.model ?? this.config.model;
		const modelName = typeof model === 'string' ? model : undefined;
		await this.#roster.join({identity, codexId, cwd: entry.cwd, model: modelName});
		if (!this.#live.has(codexId)) await this.#roster.leave(identity);
	}

	/** Something happened to a session, which the registry is to know. */
	applyEvent(session: CodexSession, event: LifecycleEvent, patch: Partial<SessionEntry> = {}): void {
		const isStart = event === 'thread_known' && session.lifecycle.stage === 'starting';
		session.lifecycle = nextLifecycle(session.lifecycle, event);
		this.save(session, {...patch, last_active: this.#now().toISOString()});
		if (!isStart) return;
		const [name, verb] = session.previousEntry ? ['resumed', 'was resumed'] : ['started', 'has started'];
		this.#log.info(`session.${name}`, `The session ${session.identity} ${verb}.`, idsOf(session));
	}

	/** Codex has named the thread of a session, or another one that takes its place. */
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
	 * The same as `happened` for what happens at every turn and is of no use to anybody after a crash: it is written soon, and what
	 * happens until then with it, so that no turn waits for the disk.
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

	/** All sessions that are known, those of this process as they are now. */
	entries(): SessionEntry[] {
		return this.registry.entries().map(entry => this.#live.get(entry.codex_id)?.entry ?? entry);
	}

	/** Writes a change down. Who has to know that it is on disk waits for `session.saved`. */
	save(session: CodexSession, patch: Partial<SessionEntry>): void {
		this.#persist(session, session.update(patch));
	}

	/** Writes all sessions down as cut off, which they are unless they come to a better end. */
	async markAllInterrupted(): Promise<void> {
		this.#isShuttingDown = true;
		for (const session of this.live) this.save(session, {});
		await Promise.all(this.live.map(({saved}) => saved));
	}

	#persist(session: CodexSession, entry: SessionEntry): void {
		const isCutOff = this.#isShuttingDown && entry.status === 'active';
		const written: SessionEntry = isCutOff ? {...entry, status: 'interrupted', state: 'closed'} : entry;
		this.#unwritten.delete(session);
		const saving = this.registry.put(written).catch(error => {
			const sentence = `The session ${session.codexId} could not be written to the registry: ${(error as Error).message}.`;
			this.#log.error('registry.not_saved', sentence, {codex_id: session.codexId});
		});
		session.saved = Promise.all([session.saved, saving]).then(() => {});
	}

	/** A session that did not come about: as if it had never been wanted. */
	discard(session: CodexSession): Promise<void> {
		return this.#release(session, async () => {
			await session.saved;
			if (session.previousEntry) this.#persist(session, session.previousEntry);
			else await this.registry.remove(session.codexId).catch(() => {});
		});
	}

	/** A session is over, in this way. Its identity is free when this resolves. */
	end(session: CodexSession, event: 'closed' | 'interrupted' | 'child_gone'): Promise<void> {
		this.applyEvent(session, event);
		const {status} = session.entry;
		const sentence = `The session ${session.identity} has ended: ${status}.`;
		this.#log.info('session.ended', sentence, {...idsOf(session), status});
		return this.#release(session, async () => {});
	}

	/** Who wants the identity next waits until it has been given back. */
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

	/** The session of this process that goes by this codex id, thread id or identity. */
	findLive(ref: string): CodexSession | undefined {
		const session = this.#live.get(ref) ?? this.#live.get(claimingCodexId(this.#claims, ref) ?? '');
		return session ?? this.live.find(({entry}) => entry.thread_id === ref);
	}

	/** What is known of a session by its codex id, thread id or identity. */
	requireEntry(ref: string): SessionEntry {
		const entry = this.findLive(ref)?.entry ?? this.registry.find(ref);
		if (entry) return entry;
		const active = this.live.map(({identity, codexId}) => `${identity} (${codexId})`);
		const available = active.length === 0 ? 'No session is active' : `Active are ${active.join(', ')}`;
		throw new ToolError(
			'session_not_found',
			`There is no session ${JSON.stringify(ref.slice(0, 200))}. ${available}; codex_threads lists those of before.`,
			{codex_id: ref.slice(0, 200)},
		);
	}

	/** The session of a thread. */
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
