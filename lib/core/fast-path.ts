import {isOptimized} from '../util/optimizations.js';
import {EVERY_MESSAGE} from '../wire/marks.js';
import {bypassWhen} from './bypass.js';
import type {Envelope} from './envelope.js';
import type {PendingRequests} from './requests/pending.js';
import type {Stage} from './stage.js';

/** The marks of messages that a translation changes; undefined until the handshake is complete. */
type Translation = {
	readonly transformMarks:
		| {readonly calls: number; readonly results: number; readonly errors: number}
		| undefined;
};

/**
 * Returns a function that wraps stages so that messages on the fast path skip them: a tools/call and its
 * response, once the handshake is complete, if no translation changes them.
 *
 * A message is classified once, when it reaches the first wrapped stage, and keeps the result: a response could not
 * be recognized again once its request is no longer pending.
 */
export function fastPath(
	translation: Translation,
	pending: PendingRequests,
): (stages: readonly Stage[]) => Stage {
	const isFast = isOptimized('fast-path') ? isOnFastPath : () => false;
	return stages => bypassWhen(isFast, stages, envelope => classify(envelope, translation, pending));
}

const isOnFastPath = ({isFastPath}: Envelope): boolean => isFastPath;

/** Sets `isFastPath` of a message. */
export function classify(envelope: Envelope, {transformMarks}: Translation, pending: PendingRequests): void {
	if (envelope.isFastPath || !transformMarks) return;
	const {key, method, flaw, hasError} = envelope.head;
	const marks = envelope.head.marks | EVERY_MESSAGE;
	if (key === undefined || flaw !== undefined) return;
	if (method !== undefined)
		envelope.isFastPath = method === 'tools/call' && (marks & transformMarks.calls) === 0;
	else if (pending.isFastPath(key))
		envelope.isFastPath = (marks & (hasError ? transformMarks.errors : transformMarks.results)) === 0;
}
