import {randomBytes} from 'node:crypto';
import {performance} from 'node:perf_hooks';
import {BridgeError} from '../errors.js';
import type {Refused} from '../http/refuse.js';
import {type Log, logBug} from '../log.js';
import {Rate} from '../rate.js';
import type {Endpoint} from '../stage.js';
import {warnLimited} from '../warn-limited.js';
import type {Conversation, Converse} from './conversation.js';

/** A client's end of a conversation. Whether it is in use tells whether it may be ended for another. */
export type Client = {
	readonly isInUse: boolean;
	/** Has it listen elsewhere, if it can. */
	sendAway?(): void;
	close(): Promise<void>;
};

/** A session, as the table of sessions keeps it. */
export type Held = {
	readonly id: string;
	readonly client: Client;
	readonly conversation: Conversation;
	/** Where the client is, which tells two of them apart that show the same credentials. */
	readonly place: string;
	usedAt: number;
};

export type SessionsOptions = {
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
const HELD_UP_MS = 1000;
const TOLD_EVERY_MS = 10_000;

/** The one that was used last is the last. */
const byUse = (one: Held, other: Held): number => one.usedAt - other.usedAt;

/** An id that nobody can guess. */
export const newSessionId = (): string => randomBytes(16).toString('hex');

/** The sessions of clients. */
export class Sessions {
	readonly #options: SessionsOptions;
	readonly #byId = new Map<string, Held>();
	/** The number of sessions of each principal, by its token. */
	readonly #counts = new Map<string, number>();
	#sweep: NodeJS.Timeout | undefined;
	/** How many were ended for others so far. It is told once in a while, not of each. */
	#evicted = 0;
	readonly #told = new Rate(1, TOLD_EVERY_MS, () => performance.now());

	constructor(options: SessionsOptions) {
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
	begin(one: Omit<Held, 'usedAt'>, endpoint: Endpoint, converse: Converse): Held {
		this.makeRoom(one.conversation.caller.token);
		const held: Held = {...one, usedAt: performance.now()};
		this.#byId.set(held.id, held);
		this.#count(held, 1);
		this.#options.onCount?.(this.#byId.size);
		try {
			held.conversation.begin(endpoint, converse);
		} catch (error) {
			void this.end(held);
			throw error;
		}
		void endpoint.gone.then(() => this.end(held));
		return held;
	}

	/** The session with this id, for whoever it belongs to and nobody else. */
	find(id: string, service: string, principal: string): Held | undefined {
		const held = this.#byId.get(id);
		if (
			held?.conversation.service.config.name !== service ||
			held.conversation.caller.principal !== principal
		)
			return;
		this.#touch(held);
		return held;
	}

	/** What is answered for all ids that are none of the caller's: who else they may belong to is not told. */
	unknown(service: string): Refused {
		const sentence = `A client of ${service} named a session that it does not have.`;
		warnLimited(this.#options.log, 'session.unknown', sentence, {service}, service);
		return {status: 404, code: -32001, message: 'Session not found'};
	}

	/** The session that a client means which does not say: the one that it used last. */
	latest(service: string, principal: string, place: string): Held | undefined {
		const own = [...this.#byId.values()].filter(
			held =>
				held.place === place &&
				held.conversation.service.config.name === service &&
				held.conversation.caller.principal === principal,
		);
		const newest = own.sort(byUse).at(-1);
		if (own.length > 1)
			this.#options.log.warn(
				'session.inject.ambiguous',
				`A client of ${service} does not name its session, and has ${own.length}; it gets the one it used last.`,
				{service, sessions: own.length},
			);
		if (newest) this.#touch(newest);
		return newest;
	}

	#touch(held: Held): void {
		held.usedAt = performance.now();
	}

	/** Ends a session. Resolves with the status that a server behind HTTP answered to that. */
	async end(held: Held): Promise<number | undefined> {
		if (!this.#byId.delete(held.id)) return;
		this.#count(held, -1);
		this.#options.onCount?.(this.#byId.size);
		try {
			const status = await held.conversation.end();
			await held.client.close();
			return status;
		} catch (error) {
			// Whoever ends a session can do nothing about it.
			logBug(this.#options.log, error);
			return;
		}
	}

	async endWhere(matches: (held: Held) => boolean): Promise<void> {
		await Promise.all([...this.#byId.values()].filter(matches).map(held => this.end(held)));
	}

	async close(): Promise<void> {
		clearTimeout(this.#sweep);
		await this.endWhere(() => true);
	}

	values(): Iterable<Held> {
		return this.#byId.values();
	}

	/**
	 * Makes room for one more session of the principal with this token. A principal at its quota loses its own least recently
	 * used session; at the limit of all sessions, the principal with the most of them does. Fails when all are in use.
	 */
	makeRoom(token: string): void {
		const {sessions, clientSessions} = this.#options.limits();
		const isAtQuota = Boolean(clientSessions) && this.#countOf(token) >= Number(clientSessions);
		if (!isAtQuota && this.#byId.size < sessions) return;
		const held = this.#leastUsed(isAtQuota ? token : undefined, Boolean(clientSessions));
		if (!held) throw isAtQuota ? clientBusy(Number(clientSessions)) : busy(sessions);
		this.#evicted++;
		if (this.#told.take()) {
			const {name: service} = held.conversation.service.config;
			const sentence = isAtQuota
				? `A client has ${clientSessions} sessions (limits.clientSessions); for each new one, its own least recently used session ends.`
				: `There are ${sessions} sessions; for each new one, the least recently used session ends.`;
			this.#options.log.warn('session.evicted', sentence, {service, ended: this.#evicted});
		}
		void this.end(held);
	}

	#countOf(token: string): number {
		return this.#counts.get(token) ?? 0;
	}

	#count({conversation: {caller}}: Held, change: number): void {
		const count = this.#countOf(caller.token) + change;
		if (count > 0) this.#counts.set(caller.token, count);
		else this.#counts.delete(caller.token);
	}

	/**
	 * The session that is not in use, and was not for the longest time: of this principal, or where quotas count, of the one
	 * that has the most sessions.
	 */
	#leastUsed(token: string | undefined, isByCount: boolean): Held | undefined {
		let least: Held | undefined;
		const sizeOf = ({conversation: {caller}}: Held): number => (isByCount ? this.#countOf(caller.token) : 0);
		for (const held of this.#byId.values()) {
			const isOther = token !== undefined && held.conversation.caller.token !== token;
			if (isOther || held.client.isInUse) continue;
			const more = least ? sizeOf(held) - sizeOf(least) : 1;
			if (!least || more > 0 || (more === 0 && held.usedAt < least.usedAt)) least = held;
		}
		return least;
	}

	#sweepLater(): void {
		const {idleMs} = this.#options.limits();
		const waitMs = idleMs === 0 ? MAX_SWEEP_MS : Math.max(MIN_SWEEP_MS, Math.min(idleMs / 4, MAX_SWEEP_MS));
		const due = performance.now() + waitMs;
		this.#sweep = setTimeout(() => {
			const lateMs = performance.now() - due;
			this.#endIdle(lateMs > HELD_UP_MS ? lateMs : 0);
			this.#sweepLater();
		}, waitMs).unref();
	}

	/** Ends those that were silent for too long. A time in which nobody could be heard is no silence. */
	#endIdle(deafMs: number): void {
		const {log, limits} = this.#options;
		const {idleMs} = limits();
		if (idleMs === 0) return;
		const now = performance.now();
		for (const held of this.#byId.values()) {
			// It is silent from the moment on at which nobody waits or listens any more.
			if (held.client.isInUse) held.usedAt = now;
			else held.usedAt = Math.min(now, held.usedAt + deafMs);
			if (now - held.usedAt < idleMs) continue;
			const sentence = 'A session that was silent for too long was ended.';
			log.info('session.idle', sentence, {service: held.conversation.service.config.name});
			void this.end(held);
		}
	}
}

const busy = (limit: number): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`${limit} sessions are in use.`,
		'Try again later, or raise limits.sessions.',
		{limit},
	);

const clientBusy = (limit: number): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`${limit} sessions of this client are in use, which is the limit for one client (limits.clientSessions).`,
		'End some of them, or raise that limit.',
		{limit},
	);
