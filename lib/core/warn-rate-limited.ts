import {performance} from 'node:perf_hooks';
import {RateLimiter} from '../util/rate-limiter.js';
import type {Log} from './log.js';

/** How often one kind of event is logged, in a stretch of time: each message of a peer could cause one. */
const [MAX_ENTRIES, WINDOW_MS] = [100, 10_000];

type Fields = {readonly [key: string]: unknown};
type WarningKind = {readonly limiter: RateLimiter; suppressed: number};

const kindsByLog = new WeakMap<Log, Map<string, WarningKind>>();

/**
 * Logs a warning about a message of a peer, unless there were too many of its kind lately. The next entry then has the
 * number of those that were left out. `about` is a name in the configuration, where each one is counted by itself.
 */
export function warnRateLimited(
	log: Log,
	event: string,
	sentence: string,
	fields: Fields = {},
	scope = '',
): void {
	const all = kindsByLog.get(log) ?? new Map<string, WarningKind>();
	kindsByLog.set(log, all);
	const key = `${event} ${scope}`;
	const kind = all.get(key) ?? {
		limiter: new RateLimiter(MAX_ENTRIES, WINDOW_MS, () => performance.now()),
		suppressed: 0,
	};
	all.set(key, kind);
	if (!kind.limiter.tryAcquire()) {
		kind.suppressed++;
		return;
	}
	log.warn(event, sentence, kind.suppressed > 0 ? {...fields, leftOut: kind.suppressed} : fields);
	kind.suppressed = 0;
}
