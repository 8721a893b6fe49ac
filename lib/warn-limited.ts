import {performance} from 'node:perf_hooks';
import type {Log} from './log.js';
import {Rate} from './rate.js';

/** How often one kind of event is logged, in a stretch of time: each message of a peer could cause one. */
const [MAX_ENTRIES, WINDOW_MS] = [100, 10_000];

type Fields = {readonly [key: string]: unknown};
type Kind = {readonly rate: Rate; leftOut: number};

const kinds = new WeakMap<Log, Map<string, Kind>>();

/**
 * Logs a warning about a message of a peer, unless there were too many of its kind lately. The next entry then has the
 * number of those that were left out. `about` is a name in the configuration, where each one is counted by itself.
 */
export function warnLimited(
	log: Log,
	event: string,
	sentence: string,
	fields: Fields = {},
	about = '',
): void {
	const all = kinds.get(log) ?? new Map<string, Kind>();
	kinds.set(log, all);
	const key = `${event} ${about}`;
	const kind = all.get(key) ?? {rate: new Rate(MAX_ENTRIES, WINDOW_MS, () => performance.now()), leftOut: 0};
	all.set(key, kind);
	if (!kind.rate.take()) {
		kind.leftOut++;
		return;
	}
	log.warn(event, sentence, kind.leftOut > 0 ? {...fields, leftOut: kind.leftOut} : fields);
	kind.leftOut = 0;
}
