import type {Log} from './log.js';

/** The number of sentences remembered per log. Further ones are logged each time. */
const MAX_SENTENCES = 1000;

const loggedSentences = new WeakMap<Log, Set<string>>();

/** Logs a warning about the configuration only once, although each request detects it again. */
export function warnOnce(
	log: Log,
	event: string,
	sentence: string,
	fields: {readonly [key: string]: unknown} = {},
): void {
	const sentences = loggedSentences.get(log) ?? new Set();
	loggedSentences.set(log, sentences);
	if (sentences.has(sentence)) return;
	if (sentences.size < MAX_SENTENCES) sentences.add(sentence);
	log.warn(event, sentence, fields);
}
