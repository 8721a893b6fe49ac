import {EVERY_MESSAGE} from '../wire/marks.js';
import type {Envelope} from './envelope.js';
import type {PendingRequests} from './requests/pending.js';

/**
 * Returns a function that marks messages for the fast path. These are tool calls and their results that need
 * no translation once the handshake is complete. Stages for handshakes, lists, batches and versions are
 * skipped for them.
 *
 * A marked message stays marked. A response could not be recognized again once its request is no longer
 * pending.
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
		const {transformMarks} = negotiation;
		if (envelope.isFastPath || !transformMarks) return envelope.isFastPath;
		const {key, method, flaw, hasError} = envelope.head;
		const marks = envelope.head.marks | EVERY_MESSAGE;
		if (key === undefined || flaw !== undefined) return false;
		if (method !== undefined)
			envelope.isFastPath = method === 'tools/call' && (marks & transformMarks.calls) === 0;
		else if (pending.isFastPath(key))
			envelope.isFastPath = (marks & (hasError ? transformMarks.errors : transformMarks.results)) === 0;
		return envelope.isFastPath;
	};
