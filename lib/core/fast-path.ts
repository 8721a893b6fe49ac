import {EVERY_MESSAGE} from '../wire/marks.js';
import type {Envelope} from './envelope.js';
import type {PendingRequests} from './requests/pending.js';

/**
 * Tells whether a message is what a conversation consists of for the most part, once all is settled: the call of a tool, or
 * its answer, that nobody has to translate. Whoever has to do with handshakes, lists, batches or versions need not see it.
 *
 * A message that was found to be one stays one: of an answer it cannot be told any more when nobody waits for it.
 */
export const markFastPath =
	(
		negotiation: {
			readonly transformMarks:
				| {readonly calls: number; readonly results: number; readonly errors: number}
				| undefined;
		},
		pending: PendingRequests,
	) =>
	(envelope: Envelope): boolean => {
		const {transformMarks: touching} = negotiation;
		if (envelope.isFastPath || !touching) return envelope.isFastPath;
		const {key, method, flaw, hasError} = envelope.head;
		const marks = envelope.head.marks | EVERY_MESSAGE;
		if (key === undefined || flaw !== undefined) return false;
		if (method !== undefined) envelope.isFastPath = method === 'tools/call' && (marks & touching.calls) === 0;
		else if (pending.isFastPath(key))
			envelope.isFastPath = (marks & (hasError ? touching.errors : touching.results)) === 0;
		return envelope.isFastPath;
	};
