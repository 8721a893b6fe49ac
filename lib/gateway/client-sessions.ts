import {randomBytes} from 'node:crypto';
import {performance} from 'node:perf_hooks';
import {BridgeError} from '../core/errors.js';
import {type Log, logBug} from '../core/log.js';
import type {Endpoint} from '../core/stage.js';
import {warnRateLimited} from '../core/warn-rate-limited.js';
import type {HttpError} from '../http/http-error.js';
import type {Conversation, StartConversation} from '../upstream/conversation.js';
import {RateLimiter} from '../util/rate-limiter.js';

/** A client's end of a conversation. Whether it is in use tells whether it may be ended for another. */
export type SessionClient = {
	readonly isInUse: boolean;
	/** Has it listen elsewhere, if it can. */
	endStreamsWithRetry?(): void;
	close(): Promise<void>;
};

/** A session, as the table of sessions keeps it. */
export type ClientSession = {
	readonly id: string;
	readonly client: SessionClient;
	readonly conversation: Conversation;
	/** Where the client is, which tells two of them apart that show the same credentials. */
	readonly clientKey: string;
	lastUsedAt: number;
};

type ClientSessionsOptions = {
	readonly log: Log;
	/** How many there may be, and how long one may be silent; 0 for ever. Both may change. */
	readonly limits: () => {
		readonly sessions: number;
		readonly idleMs: number;
		/** How many of them one principal may have; 0 or undefined for no quota. */
		readonly clientSessions?: number | undefined;
	};
	readonly onCount?: (count: number) => void;
};

/** How often sessions are looked at that may be silent for too long. */
const MIN_SWEEP_MS = 50;
const MAX_SWEEP_MS = 30_000;
/** A look that comes so much later than it should was held up: bridge was suspended, and nobody could have come. */
const SUSPENDED_MS = 1000;
const LOG_INTERVAL_MS = 10_000;

/** The one that was used last is the last. */
const byLastUse = (one: ClientSession, other: ClientSession): number => one.lastUsedAt - other.lastUsedAt;

/** An id that nobody can guess. */
export const newSessionId = (): string => randomBytes(16).toString('hex');

/** The sessions of clients. */
export class ClientSessions {
	readonly #options: ClientSessionsOptions;
	readonly #byId = new Map<string, ClientSession>();
	/** The number of sessions of each principal, by its token. */
	readonly #counts = new Map<string, number>();
	#sweep: NodeJS.Timeout | undefined;
	/** How many were ended for others so far. It is told once in a while, not of each. */
	#evicted = 0;
	readonly #evictionLogRate = new RateLimiter(1, LOG_INTERVAL_MS, () => performance.now());

	constructor(options: ClientSessionsOptions) {
		this.#options = options;
		this.#sweepLater();
	}

	get size(): number {
		return this.#byId.size;
	}

	/**
	 * Takes a session in, and lets its client talk for as long as that is there. Over the limit, the one that was used least
	 * lately ends, unless it is in use.
	 */
	start(
		parts: Omit<ClientSession, 'lastUsedAt'>,
		endpoint: Endpoint,
		startConversation: StartConversation,
	): ClientSession {
		this.ensureCapacity(parts.conversation.principal.token);
		const session: ClientSession = {...parts, lastUsedAt: performance.now()};
		this.#byId.set(session.id, session);
		this.#count(session, 1);
		this.#options.onCount?.(this.#byId.size);
		try {
			session.conversation.start(endpoint, startConversation);
		} catch (error) {
			void this.end(session);
			throw error;
		}
		void endpoint.disconnected.then(() => this.end(session));
		return session;
	}

	/** The session with this id, for whoever it belongs to and nobody else. */
	find(id: string, service: string, principal: string): ClientSession | undefined {
		const session = this.#byId.get(id);
		if (
			session?.conversation.service.config.name !== service ||
			session.conversation.principal.id !== principal
		)
			return;
		this.#touch(session);
		return session;
	}

	/** What is answered for all ids that are none of the caller's: who else they may belong to is not told. */
	notFoundError(service: string): HttpError {
		const sentence = `A client of ${service} named a session that it does not have.`;
		warnRateLimited(this.#options.log, 'session.unknown', sentence, {service}, service);
		return {status: 404, code: -32001, message: 'Session not found'};
	}

	/** The session that a client means which does not say: the one that it used last. */
	findLatest(service: string, principal: string, clientKey: string): ClientSession | undefined {
		const matching = [...this.#byId.values()].filter(
			session =>
				session.clientKey === clientKey &&
				session.conversation.service.config.name === service &&
				session.conversation.principal.id === principal,
		);
		const newest = matching.sort(byLastUse).at(-1);
		if (matching.length > 1)
			this.#options.log.warn(
				'session.inject.ambiguous',
				`A client of ${service} does not name its session, and has ${matching.length}; it gets the one it used last.`,
				{service, sessions: matching.length},
			);
		if (newest) this.#touch(newest);
		return newest;
	}

	#touch(session: ClientSession): void {
		session.lastUsedAt = performance.now();
	}

	/** Ends a session. Resolves with the status that a server behind HTTP answered to that. */
	async end(session: ClientSession): Promise<number | undefined> {
		if (!this.#byId.delete(session.id)) return;
		this.#count(session, -1);
		this.#options.onCount?.(this.#byId.size);
		try {
			const status = await session.conversation.end();
			await session.client.close();
			return status;
		} catch (error) {
			// Whoever ends a session can do nothing about it.
			logBug(this.#options.log, error);
			return;
		}
	}

	async endWhere(matches: (session: ClientSession) => boolean): Promise<void> {
		await Promise.all([...this.#byId.values()].filter(matches).map(session => this.end(session)));
	}

	async close(): Promise<void> {
		clearTimeout(this.#sweep);
		await this.endWhere(() => true);
	}

	values(): Iterable<ClientSession> {
		return this.#byId.values();
	}

	/**
	 * Makes room for one more session of the principal with this token. A principal at its quota loses its own least recently
	 * used session; at the limit of all sessions, the principal with the most of them does. Fails when all are in use.
	 */
	ensureCapacity(token: string): void {
		const {sessions, clientSessions} = this.#options.limits();
		const isAtQuota = Boolean(clientSessions) && this.#countOf(token) >= Number(clientSessions);
		if (!isAtQuota && this.#byId.size < sessions) return;
		const evicted = this.#leastRecentlyUsed(isAtQuota ? token : undefined, Boolean(clientSessions));
		if (!evicted) throw isAtQuota ? clientSessionsBusy(Number(clientSessions)) : sessionsBusy(sessions);
		this.#evicted++;
		if (this.#evictionLogRate.tryAcquire()) {
			const {name: service} = evicted.conversation.service.config;
			const sentence = isAtQuota
				? `A client has ${clientSessions} sessions (limits.clientSessions); for each new one, its own least recently used session ends.`
				: `There are ${sessions} sessions; for each new one, the least recently used session ends.`;
			this.#options.log.warn('session.evicted', sentence, {service, ended: this.#evicted});
		}
		void this.end(evicted);
	}

	#countOf(token: string): number {
		return this.#counts.get(token) ?? 0;
	}

	#count({conversation: {principal: caller}}: ClientSession, change: number): void {
		const count = this.#countOf(caller.token) + change;
		if (count > 0) this.#counts.set(caller.token, count);
		else this.#counts.delete(caller.token);
	}

	/**
	 * The session that is not in use, and was not for the longest time: of this principal, or where quotas count, of the one
	 * that has the most sessions.
	 */
	#leastRecentlyUsed(token: string | undefined, isByCount: boolean): ClientSession | undefined {
		let least: ClientSession | undefined;
		const sizeOf = ({conversation: {principal: caller}}: ClientSession): number =>
			isByCount ? this.#countOf(caller.token) : 0;
		for (const session of this.#byId.values()) {
			const isOther = token !== undefined && session.conversation.principal.token !== token;
			if (isOther || session.client.isInUse) continue;
			const more = least ? sizeOf(session) - sizeOf(least) : 1;
			if (!least || more > 0 || (more === 0 && session.lastUsedAt < least.lastUsedAt)) least = session;
		}
		return least;
	}

	#sweepLater(): void {
		const {idleMs} = this.#options.limits();
		const waitMs = idleMs === 0 ? MAX_SWEEP_MS : Math.max(MIN_SWEEP_MS, Math.min(idleMs / 4, MAX_SWEEP_MS));
		const due = performance.now() + waitMs;
		this.#sweep = setTimeout(() => {
			const lateMs = performance.now() - due;
			this.#endIdle(lateMs > SUSPENDED_MS ? lateMs : 0);
			this.#sweepLater();
		}, waitMs).unref();
	}

	/** Ends those that were silent for too long. A time in which nobody could be heard is no silence. */
	#endIdle(suspendedMs: number): void {
		const {log, limits} = this.#options;
		const {idleMs} = limits();
		if (idleMs === 0) return;
		const now = performance.now();
		for (const session of this.#byId.values()) {
			// It is silent from the moment on at which nobody waits or listens any more.
			if (session.client.isInUse) session.lastUsedAt = now;
			else session.lastUsedAt = Math.min(now, session.lastUsedAt + suspendedMs);
			if (now - session.lastUsedAt < idleMs) continue;
			const sentence = 'A session that was silent for too long was ended.';
			log.info('session.idle', sentence, {service: session.conversation.service.config.name});
			void this.end(session);
		}
	}
}

const sessionsBusy = (limit: number): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`${limit} sessions are in use.`,
		'Try again later, or raise limits.sessions.',
		{limit},
	);

const clientSessionsBusy = (limit: number): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`${limit} sessions of this client are in use, which is the limit for one client (limits.clientSessions).`,
		'End some of them, or raise that limit.',
		{limit},
	);
