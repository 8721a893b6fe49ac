import {cancellingAs} from '../change.js';
import {Envelope} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {type Log, logBug} from '../log.js';
import {shortened} from '../printable.js';
import {type Stage, stage} from '../stage.js';
import {WaitingRequests} from '../waiting-requests.js';
import {memberText} from '../wire/member.js';

export type MatchAnswersOptions = {
	readonly log: Log;
	readonly upstream: string;
	/** Where requests are kept until they are answered. */
	readonly waiting?: WaitingRequests;
};

/**
 * Gives every request of the client one answer, under the id that it was asked with, character for character.
 *
 * An id that is in flight already is refused. An answer that nobody waits for is dropped. When the upstream is gone,
 * whatever waits is answered with the reason, and so is all that is asked later.
 */
export function matchAnswers({log, upstream, waiting = new WaitingRequests()}: MatchAnswersOptions): Stage {
	let gone: BridgeError | undefined;
	const request = (envelope: Envelope): Envelope => {
		if (gone) throw gone;
		const told = waiting.add(envelope);
		return told === envelope.head.id ? envelope : envelope.withId(told);
	};
	return stage(out => ({
		toUpstream(envelope) {
			const {key, method} = envelope.head;
			if (key !== undefined && method !== undefined) return request(envelope);
			if (gone) return;
			return method === 'notifications/cancelled' ? cancellation(envelope, waiting) : envelope;
		},
		toClient(envelope) {
			const {id, key, method} = envelope.head;
			if (method !== undefined || key === undefined) return envelope;
			const isLast = envelope.original.isReceived || envelope.isConclusive;
			const found = isLast ? waiting.take(key) : waiting.takeUnanswered(key);
			if (found) return found.id === id ? envelope : envelope.withId(found.id);
			const sentence = `${upstream} answered a request that nobody waits for; the answer was dropped.`;
			log.warn('rpc.orphan_response', sentence, {id: shortened(key), server: upstream});
			return;
		},
		upstreamGone(error) {
			if (error !== undefined && !(error instanceof BridgeError)) logBug(log, error);
			gone = error instanceof BridgeError ? error : closed(upstream);
			for (const id of waiting.takeAll()) out.toClient(Envelope.failure(id, gone));
		},
		outlivesUpstream: true,
	}));
}

/** Tells the upstream of a cancelled request under the id that it knows it by. */
function cancellation(envelope: Envelope, waiting: WaitingRequests): Envelope {
	const id = memberText(envelope.bytes, 'params', 'requestId');
	const found = id === undefined ? undefined : waiting.cancel(id);
	if (!found || found.told === found.id) return envelope;
	return cancellingAs(envelope, found.told);
}

const closed = (upstream: string): BridgeError =>
	new BridgeError(
		'ERR_SESSION_CLOSED',
		`The connection to ${upstream} was closed before it answered.`,
		'Start bridge again, and keep its input open until the answers are there.',
	);
