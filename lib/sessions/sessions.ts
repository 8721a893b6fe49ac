import {randomUUID} from 'node:crypto';
import type {AtmConfig} from '../atm/types.js';
import type {Log} from '../log.js';
import type {Registration} from '../mail/registration.js';
import {type Claims, claimed, conflictElsewhere, holderOf, released} from './identity.js';
import {type LifecycleEvent, nextLife} from './lifecycle.js';
import {Refusal} from './refusal.js';
import type {Registry} from './registry.js';
import {Session} from './session.js';
import type {SessionEntry} from './types.js';

export type SessionsOptions = {
	readonly config: AtmConfig;
	readonly registry: Registry;
	readonly log: Log;
	/** The team's list of members. */
	readonly roster?: Pick<Registration, 'join' | 'leave'>;
	readonly now?: () => Date;
};

/** What is known of a session before it has begun. */
export type Beginning = Pick<SessionEntry, 'identity' | 'cwd' | 'tag' | 'role' | 'role_named'> & {
	readonly autoMail: boolean | undefined;
};

/** How long the registry's file may lag behind turns. */
const SOON_MS = 250;

/** The sessions that this process has, each with an identity that nobody else has. */
export class Sessions {
	readonly config: AtmConfig;
	readonly registry: Registry;
	readonly #log: Log;
	readonly #now: () => Date;
	readonly #roster: SessionsOptions['roster'];
	readonly #live = new Map<string, Session>();
	#claims: Claims = new Map();
	/** Identities that are about to be given back. */
	readonly #givenBack = new Map<string, Promise<void>>();
	/** Sessions of which something is to be written soon. */
	readonly #unwritten = new Set<Session>();
	#writing: NodeJS.Timeout | undefined;
	/** Whether this process is about to end: what is active until then may be cut off at any time. */
	#isEnding = false;

	constructor({config, registry, log, roster, now = () => new Date()}: SessionsOptions) {
		this.config = config;
		this.registry = registry;
		this.#log = log;
		this.#roster = roster;
		this.#now = now;
	}

	get live(): readonly Session[] {
		return [...this.#live.values()];
	}

	/** A new session. Its identity is taken before anybody else can ask for it. */
	begin({identity, cwd, tag, role, role_named: isNamed, autoMail}: Beginning): Session {
		const now = this.#now().toISOString();
		return this.#take({
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
	revive(entry: SessionEntry): Session {
		return this.#take({...entry, status: 'active', state: 'busy'}, entry);
	}

	#take(entry: SessionEntry, before?: SessionEntry): Session {
		const {maxConcurrentThreads, maxQueuedTurns} = this.config;
		const {identity, codex_id: codexId} = entry;
		this.#claims = claimed(this.#claims, {identity, codexId}, maxConcurrentThreads, {
			isResume: before !== undefined,
			isClosing: holder => this.#live.get(holder)?.closing !== undefined,
		});
		const session = new Session(entry, maxQueuedTurns, before);
		this.#live.set(codexId, session);
		return session;
	}

	/** Takes the identity against other processes, too, and writes the session down. */
	async confirm(session: Session): Promise<void> {
		const {identity, codexId} = session;
		await this.#givenBack.get(identity)?.catch(() => {});
		const reservation = await this.registry.reserve(identity, codexId);
		if (!reservation.isHeld)
			throw conflictElsewhere(identity, reservation.holder.codexId, reservation.holder.pid, {
				isResume: session.before !== undefined,
			});
		// It may have been closed meanwhile, and what was taken just now has to be given back.
		if (!this.#live.has(codexId))
			throw new Refusal('session_closed', `The session ${codexId} (${identity}) was closed.`);
		await this.join(session);
		this.save(session, {});
	}

	/** Sees to it that the session is on the team's list of members. Others may have taken it off. */
	async join(session: Session): Promise<void> {
		const {identity, codexId, entry, launch} = session;
		if (!this.#roster || session.closing !== undefined) return;
		const model = launch.model ?? this.config.model;
		const known = typeof model === 'string' ? model : undefined;
		await this.#roster.join({identity, codexId, cwd: entry.cwd, model: known});
		if (!this.#live.has(codexId)) await this.#roster.leave(identity);
	}

	/** Something happened to a session, which the registry is to know. */
	happened(session: Session, event: LifecycleEvent, patch: Partial<SessionEntry> = {}): void {
		const isStart = event === 'thread_known' && session.life.stage === 'starting';
		session.life = nextLife(session.life, event);
		this.save(session, {...patch, last_active: this.#now().toISOString()});
		if (!isStart) return;
		const [name, what] = session.before ? ['resumed', 'was resumed'] : ['started', 'has started'];
		this.#log.info(`session.${name}`, `The session ${session.identity} ${what}.`, idsOf(session));
	}

	/** Codex has named the thread of a session, or another one that takes its place. */
	noteThread(session: Session, threadId: string): void {
		const {thread_id: old, previous_thread_ids: previous} = session.entry;
		if (old === threadId && session.life.stage !== 'starting') return;
		const isOther = old !== null && old !== threadId;
		this.happened(session, 'thread_known', {
			thread_id: threadId,
			previous_thread_ids: isOther ? [...previous, old] : previous,
		});
	}

	/**
	 * The same as `happened` for what happens at every turn and is of no use to anybody after a crash: it is written soon, and what
	 * happens until then with it, so that no turn waits for the disk.
	 */
	passed(session: Session, event: LifecycleEvent, patch: Partial<SessionEntry> = {}): void {
		session.life = nextLife(session.life, event);
		session.changed({...patch, last_active: this.#now().toISOString()});
		this.#unwritten.add(session);
		this.#writing ??= setTimeout(() => this.#writeSoon(), SOON_MS).unref();
	}

	#writeSoon(): void {
		this.#writing = undefined;
		const sessions = [...this.#unwritten];
		this.#unwritten.clear();
		for (const session of sessions) if (this.#live.has(session.codexId)) this.save(session, {});
	}

	/** All sessions that are known, those of this process as they are now. */
	entries(): SessionEntry[] {
		return this.registry.entries().map(entry => this.#live.get(entry.codex_id)?.entry ?? entry);
	}

	/** Writes a change down. Who has to know that it is on disk waits for `session.saved`. */
	save(session: Session, patch: Partial<SessionEntry>): void {
		this.#put(session, session.changed(patch));
	}

	/** Writes all sessions down as cut off, which they are unless they come to a better end. */
	async allInterrupted(): Promise<void> {
		this.#isEnding = true;
		for (const session of this.live) this.save(session, {});
		await Promise.all(this.live.map(({saved}) => saved));
	}

	#put(session: Session, entry: SessionEntry): void {
		const isCutOff = this.#isEnding && entry.status === 'active';
		const written: SessionEntry = isCutOff ? {...entry, status: 'interrupted', state: 'closed'} : entry;
		this.#unwritten.delete(session);
		const saving = this.registry.put(written).catch(error => {
			const sentence = `The session ${session.codexId} could not be written to the registry: ${(error as Error).message}.`;
			this.#log.error('registry.not_saved', sentence, {codex_id: session.codexId});
		});
		session.saved = Promise.all([session.saved, saving]).then(() => {});
	}

	/** A session that did not come about: as if it had never been wanted. */
	abandon(session: Session): Promise<void> {
		return this.#letGo(session, async () => {
			await session.saved;
			if (session.before) this.#put(session, session.before);
			else await this.registry.remove(session.codexId).catch(() => {});
		});
	}

	/** A session is over, in this way. Its identity is free when this resolves. */
	end(session: Session, event: 'closed' | 'interrupted' | 'child_gone'): Promise<void> {
		this.happened(session, event);
		const {status} = session.entry;
		const sentence = `The session ${session.identity} has ended: ${status}.`;
		this.#log.info('session.ended', sentence, {...idsOf(session), status});
		return this.#letGo(session, async () => {});
	}

	/** Who wants the identity next waits until it has been given back. */
	#letGo(session: Session, before: () => Promise<void>): Promise<void> {
		const {identity} = session;
		this.#live.delete(session.codexId);
		this.#claims = released(this.#claims, session);
		const givenBack = before()
			.then(() => session.saved)
			.then(() => this.#roster?.leave(identity))
			.then(() => this.registry.release(identity))
			.finally(() => {
				if (this.#givenBack.get(identity) === givenBack) this.#givenBack.delete(identity);
			});
		this.#givenBack.set(identity, givenBack);
		return givenBack;
	}

	/** The session of this process that goes by this codex id, thread id or identity. */
	liveOne(ref: string): Session | undefined {
		const session = this.#live.get(ref) ?? this.#live.get(holderOf(this.#claims, ref) ?? '');
		return session ?? this.live.find(({entry}) => entry.thread_id === ref);
	}

	/** What is known of a session by its codex id, thread id or identity. */
	known(ref: string): SessionEntry {
		const entry = this.liveOne(ref)?.entry ?? this.registry.find(ref);
		if (entry) return entry;
		const active = this.live.map(({identity, codexId}) => `${identity} (${codexId})`);
		const there = active.length === 0 ? 'No session is active' : `Active are ${active.join(', ')}`;
		throw new Refusal(
			'session_not_found',
			`There is no session ${JSON.stringify(ref.slice(0, 200))}. ${there}; codex_threads lists those of before.`,
			{codex_id: ref.slice(0, 200)},
		);
	}

	/** The session of a thread. */
	ofThread(threadId: unknown): Session | undefined {
		return typeof threadId === 'string'
			? this.live.find(session => session.threadId === threadId)
			: undefined;
	}
}

const idsOf = ({codexId, identity, threadId}: Session) => ({
	codex_id: codexId,
	identity,
	thread_id: threadId,
});
