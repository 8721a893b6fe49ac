import {DEFAULT_BUFFER_BYTES} from '../core/buffer-limit.js';
import {DEFAULT_UNREAD_BYTES, DEFAULT_UNREAD_MS} from '../http/unread-responses.js';
import type {RateLimit} from '../util/units.js';
import {DEFAULT_RUN_CALL_BYTES} from './default-run-call-bytes.js';
import {type Quotas, resolveQuotas} from './quotas.js';
import type {FileSettings} from './schema.js';

const MAX_SESSIONS = 1000;
/** The default total byte limits are at least this multiple of the maximum message size. */
const MIN_MESSAGES = 4;

export type ConfigLimits = Quotas & {
	readonly messageBytes: number;
	readonly sessions: number;
	/** The idle limit of a session; 0 for no limit. */
	readonly idleMs: number;
	/** The unread bytes of all clients together, and the time a client may stop reading; 0 for no limit. */
	readonly unreadBytes: number;
	readonly unreadForMs: number;
	/** The buffered bytes of all sessions together. */
	readonly bufferBytes: number;
	/** The size limit of the arguments and of the result of one call in `run`. */
	readonly runCallBytes: number;
	/** The request rate of one principal; undefined for no limit. */
	readonly rate: RateLimit | undefined;
};

/** Resolves the limits of a file and fills in defaults. */
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
