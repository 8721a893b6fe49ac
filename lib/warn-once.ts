import type {Log} from './log.js';

/** Different sentences that are remembered for one log. Further ones are logged each time. */
const MAX_SENTENCES = 1000;

const logged = new WeakMap<Log, Set<string>>();

/** Logs a warning about the configuration, which would be found again with each request, only the first time. */
export function warnOnce(
	log: Log,
	event: string,
	sentence: string,
	fields: {readonly [key: string]: unknown} = {},
): void {
	const known = logged.get(log) ?? new Set();
	logged.set(log, known);
	if (known.has(sentence)) return;
	if (known.size < MAX_SENTENCES) known.add(sentence);
	log.warn(event, sentence, fields);
}
