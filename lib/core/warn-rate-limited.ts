import {performance} from 'node:perf_hooks';
import {RateLimiter} from '../util/rate-limiter.js';
import type {Log} from './log.js';

/** The maximum number of entries per event and time window, since each message of a peer could cause one. */
const [MAX_ENTRIES, WINDOW_MS] = [100, 10_000];

type Fields = {readonly [key: string]: unknown};
type WarningKind = {readonly limiter: RateLimiter; suppressed: number};

const kindsByLog = new WeakMap<Log, Map<string, WarningKind>>();

/**
 * Logs a warning about a message of a peer, unless its event reached the limit. The next entry then has the
 * number of suppressed entries. `scope` is a name in the configuration that is limited separately.
 */
export function warnRateLimited(
	log: Log,
	event: string,
	sentence: string,
	fields: Fields = {},
	scope = '',
): void {
	const kinds = kindsByLog.get(log) ?? new Map<string, WarningKind>();
	kindsByLog.set(log, kinds);
	const key = `${event} ${scope}`;
	const kind = kinds.get(key) ?? {
		limiter: new RateLimiter(MAX_ENTRIES, WINDOW_MS, () => performance.now()),
		suppressed: 0,
	};
	kinds.set(key, kind);
	if (!kind.limiter.tryAcquire()) {
		kind.suppressed++;
		return;
	}
	log.warn(event, sentence, kind.suppressed > 0 ? {...fields, leftOut: kind.suppressed} : fields);
	kind.suppressed = 0;
}
