import {UNREAD_BYTES, UNREAD_FOR_MS} from '../http/unread.js';
import {KEPT_BYTES} from '../kept-bytes.js';
import {CALL_BYTES} from '../run/call-bytes.js';
import type {RateLimit} from '../units.js';
import {type Quotas, quotasOf} from './quotas.js';
import type {GivenFile} from './schema.js';

const MAX_SESSIONS = 1000;
/** The default total byte limits are at least this many messages of the maximum length. */
const LEAST_MESSAGES = 4;

/** The limits of a configuration. */
export type Limits = Quotas & {
	readonly messageBytes: number;
	readonly sessions: number;
	/** How long a session may be idle; 0 for no limit. */
	readonly idleMs: number;
	/** Unread bytes of all clients together, and how long one client may read nothing; 0 for no limit. */
	readonly unreadBytes: number;
	readonly unreadForMs: number;
	/** Bytes in the buffers of all sessions together. */
	readonly keptBytes: number;
	/** Bytes of the arguments of one call in `run`, and of its result. */
	readonly runCallBytes: number;
	/** Requests of one caller per time; undefined for no limit. */
	readonly rate: RateLimit | undefined;
};

/** The limits of a file, with defaults for those that it does not set. */
export function limitsOf(given: NonNullable<GivenFile['limits']>, tokens: readonly string[]): Limits {
	const {message = 64 * 2 ** 20, sessions = MAX_SESSIONS, idle = 30 * 60_000, rate} = given;
	return {
		messageBytes: message,
		sessions,
		idleMs: idle,
		rate,
		unreadBytes: given.unread ?? Math.max(UNREAD_BYTES, LEAST_MESSAGES * message),
		unreadForMs: given.unreadFor ?? UNREAD_FOR_MS,
		runCallBytes: given.runCall ?? CALL_BYTES,
		keptBytes: given.kept ?? Math.max(KEPT_BYTES, LEAST_MESSAGES * message),
		...quotasOf(given, tokens, sessions),
	};
}
