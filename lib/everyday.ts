import type {Envelope} from './envelope.js';
import type {Session} from './protocol/session.js';
import type {WaitingRequests} from './waiting-requests.js';
import {EVERY_MESSAGE} from './wire/marks.js';

/**
 * Tells whether a message is what a conversation consists of for the most part, once all is settled: the call of a tool, or
 * its answer, that nobody has to translate. Whoever has to do with handshakes, lists, batches or versions need not see it.
 *
 * A message that was found to be one stays one: of an answer it cannot be told any more when nobody waits for it.
 */
export const everyday =
	(session: Session, waiting: WaitingRequests) =>
	(envelope: Envelope): boolean => {
		const {touching} = session;
		if (envelope.isEveryday || !touching) return envelope.isEveryday;
		const {key, method, flaw, hasError} = envelope.head;
		const marks = envelope.head.marks | EVERY_MESSAGE;
		if (key === undefined || flaw !== undefined) return false;
		if (method !== undefined) envelope.isEveryday = method === 'tools/call' && (marks & touching.calls) === 0;
		else if (waiting.isEveryday(key))
			envelope.isEveryday = (marks & (hasError ? touching.errors : touching.results)) === 0;
		return envelope.isEveryday;
	};
