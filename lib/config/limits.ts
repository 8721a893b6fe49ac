import {DEFAULT_BUFFER_BYTES} from '../core/buffer-limit.js';
import {DEFAULT_UNREAD_BYTES, DEFAULT_UNREAD_MS} from '../http/unread-responses.js';
import type {RateLimit} from '../util/units.js';
import {DEFAULT_RUN_CALL_BYTES} from './default-run-call-bytes.js';
import {type Quotas, resolveQuotas} from './quotas.js';
import type {FileSettings} from './schema.js';

const MAX_SESSIONS = 1000;
/** The default total byte limits are at least this many messages of the maximum length. */
const MIN_MESSAGES = 4;

/** The limits of a configuration. */
export type ConfigLimits = Quotas & {
	readonly messageBytes: number;
	readonly sessions: number;
	/** How long a session may be idle; 0 for no limit. */
	readonly idleMs: number;
	/** Unread bytes of all clients together, and how long one client may read nothing; 0 for no limit. */
	readonly unreadBytes: number;
	readonly unreadForMs: number;
	/** Bytes in the buffers of all sessions together. */
	readonly bufferBytes: number;
	/** Bytes of the arguments of one call in `run`, and of its result. */
	readonly runCallBytes: number;
	/** Requests of one caller per time; undefined for no limit. */
	readonly rate: RateLimit | undefined;
};

/** The limits of a file, with defaults for those that it does not set. */
export function resolveLimits(
	limits: NonNullable<FileSettings['limits']>,
	tokens: readonly string[],
): ConfigLimits {
	const {message = 64 * 2 ** 20, sessions = MAX_SESSIONS, idle = 30 * 60_000, rate} = limits;
	return {
		messageBytes: message,
		sessions,
		idleMs: idle,
		rate,
		unreadBytes: limits.unread ?? Math.max(DEFAULT_UNREAD_BYTES, MIN_MESSAGES * message),
		unreadForMs: limits.unreadFor ?? DEFAULT_UNREAD_MS,
		runCallBytes: limits.runCall ?? DEFAULT_RUN_CALL_BYTES,
		bufferBytes: limits.kept ?? Math.max(DEFAULT_BUFFER_BYTES, MIN_MESSAGES * message),
		...resolveQuotas(limits, tokens, sessions),
	};
}
