import {randomBytes} from 'node:crypto';
import {performance} from 'node:perf_hooks';
import {BridgeError} from '../core/errors.js';
import {type Log, logBug} from '../core/log.js';
import type {Endpoint} from '../core/stage.js';
import {warnRateLimited} from '../core/warn-rate-limited.js';
import type {HttpError} from '../http/http-error.js';
import type {Conversation, StartConversation} from '../upstream/conversation.js';
import {RateLimiter} from '../util/rate-limiter.js';

/** The client's end of a session. A session in use is never evicted. */
export type SessionClient = {
	readonly isInUse: boolean;
	/** Ends the listen stream, so that the client opens it again, perhaps at another replica. */
	endStreamsWithRetry?(): void;
	close(): Promise<void>;
};

export type ClientSession = {
	readonly id: string;
	readonly client: SessionClient;
	readonly conversation: Conversation;
	/** Distinguishes clients with the same credentials, by address and User-Agent. */
	readonly clientKey: string;
	lastUsedAt: number;
};

type ClientSessionsOptions = {
	readonly log: Log;
	/** The limits, which may change: the number of sessions, and their idle time (0 for no limit). */
	readonly limits: () => {
		readonly sessions: number;
		readonly idleMs: number;
		/** The session quota of one principal; 0 or undefined for none. */
		readonly clientSessions?: number | undefined;
	};
};

/** Bounds of the interval of the idle-session sweep. */
const MIN_SWEEP_MS = 50;
const MAX_SWEEP_MS = 30_000;
/**
 * A sweep that is this late means that the process was suspended, so that clients could not send anything.
 */
const SUSPENDED_MS = 1000;
const LOG_INTERVAL_MS = 10_000;

const byLastUse = (one: ClientSession, other: ClientSession): number => one.lastUsedAt - other.lastUsedAt;

/** Returns an id that cannot be guessed: 128 random bits. */
export const newSessionId = (): string => randomBytes(16).toString('hex');

export class ClientSessions {
	readonly #options: ClientSessionsOptions;
	readonly #byId = new Map<string, ClientSession>();
	readonly #counts = new Map<string, number>();
	#sweep: NodeJS.Timeout | undefined;
	/** Sessions evicted so far. Evictions are logged at intervals, not one by one. */
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
	 * Adds a session and starts its conversation. The session ends when the client disconnects. At the limit,
	 * the least recently used session that is not in use is evicted.
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
		try {
			session.conversation.start(endpoint, startConversation);
		} catch (error) {
			void this.end(session);
			throw error;
		}
		void endpoint.disconnected.then(() => this.end(session));
		return session;
	}

	/** Returns the session with this id, if it belongs to this service and principal. */
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

	/** The error for unknown ids, and for ids of other principals. It does not reveal which of them applies. */
	notFoundError(service: string): HttpError {
		const sentence = `A client of ${service} sent a session id that is unknown or belongs to another client.`;
		warnRateLimited(this.#options.log, 'session.unknown', sentence, {service}, service);
		return {status: 404, code: -32001, message: 'Session not found'};
	}

	/** Returns the most recent session of a client that omits the session id. */
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
				`A client of ${service} omits Mcp-Session-Id and has ${matching.length} sessions. Its most recent session is used.`,
				{service, sessions: matching.length},
			);
		if (newest) this.#touch(newest);
		return newest;
	}

	#touch(session: ClientSession): void {
		session.lastUsedAt = performance.now();
	}

	/** Ends a session. Resolves to the HTTP status with which the upstream ended it, if there is one. */
	async end(session: ClientSession): Promise<number | undefined> {
		if (!this.#byId.delete(session.id)) return;
		this.#count(session, -1);
		try {
			const status = await session.conversation.end();
			await session.client.close();
			return status;
		} catch (error) {
			// The callers cannot handle this error.
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
	 * Makes room for one more session of the principal with this token. A principal at its quota loses its
	 * least recently used session. At the limit of all sessions, one is evicted, with quotas from the
	 * principal that has the most. Throws if all candidates are in use.
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
				? `A client has reached its limit of ${clientSessions} sessions (limits.clientSessions). Each new session ends its least recently used one.`
				: `The limit of ${sessions} sessions is reached (limits.sessions). Each new session ends the least recently used one.`;
			this.#options.log.warn('session.evicted', sentence, {service, ended: this.#evicted});
		}
		void this.end(evicted);
	}

	#countOf(token: string): number {
		return this.#counts.get(token) ?? 0;
	}

	#count({conversation: {principal}}: ClientSession, change: number): void {
		const count = this.#countOf(principal.token) + change;
		if (count > 0) this.#counts.set(principal.token, count);
		else this.#counts.delete(principal.token);
	}

	/**
	 * Returns the least recently used session that is not in use: of this principal, or with `isByCount`, of
	 * the principal with the most sessions.
	 */
	#leastRecentlyUsed(token: string | undefined, isByCount: boolean): ClientSession | undefined {
		let oldest: ClientSession | undefined;
		const countOf = ({conversation: {principal}}: ClientSession): number =>
			isByCount ? this.#countOf(principal.token) : 0;
		for (const session of this.#byId.values()) {
			const isOther = token !== undefined && session.conversation.principal.token !== token;
			if (isOther || session.client.isInUse) continue;
			const difference = oldest ? countOf(session) - countOf(oldest) : 1;
			if (!oldest || difference > 0 || (difference === 0 && session.lastUsedAt < oldest.lastUsedAt))
				oldest = session;
		}
		return oldest;
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

	/**
	 * Ends sessions that were idle for too long. The time during which the process was suspended does not
	 * count.
	 */
	#endIdle(suspendedMs: number): void {
		const {log, limits} = this.#options;
		const {idleMs} = limits();
		if (idleMs === 0) return;
		const now = performance.now();
		for (const session of this.#byId.values()) {
			// Idle time starts when the last request or stream ends.
			if (session.client.isInUse) session.lastUsedAt = now;
			else session.lastUsedAt = Math.min(now, session.lastUsedAt + suspendedMs);
			if (now - session.lastUsedAt < idleMs) continue;
			const sentence = 'A session that was idle for too long was ended.';
			log.info('session.idle', sentence, {service: session.conversation.service.config.name});
			void this.end(session);
		}
	}
}

const sessionsBusy = (limit: number): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`All ${limit} sessions are in use.`,
		'Try again later, or raise limits.sessions.',
		{limit},
	);

const clientSessionsBusy = (limit: number): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`This client has ${limit} sessions in use, which is the limit for one client (limits.clientSessions).`,
		'End some of them, or raise the limit.',
		{limit},
	);
