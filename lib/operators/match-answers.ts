import {cancellingAs, change} from '../change.js';
import {Envelope} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {type Log, logBug} from '../log.js';
import {shortened} from '../printable.js';
import {misnamed} from '../protocol/repairs.js';
import {type Stage, stage} from '../stage.js';
import {WaitingRequests} from '../waiting-requests.js';
import {warnLimited} from '../warn-limited.js';
import {canonicalId} from '../wire/id.js';
import {memberRange, memberText} from '../wire/member.js';

export type MatchAnswersOptions = {
	readonly log: Log;
	readonly upstream: string;
	/** Where requests are kept until they are answered. */
	readonly waiting?: WaitingRequests;
	/** Whether responses to requests that the client has cancelled are dropped. An upstream may send them all the same. */
	readonly dropsCancelled?: boolean;
};

/**
 * Gives every request of the client one answer, under the id that it was asked with, character for character.
 *
 * An id that is in flight already is refused. An answer that nobody waits for is dropped, and so is progress: some
 * clients end the connection over it. When the upstream is gone, whatever waits is answered with the reason, and so is
 * all that is asked later.
 */
export function matchAnswers({
	log,
	upstream,
	waiting = new WaitingRequests(),
	dropsCancelled = false,
}: MatchAnswersOptions): Stage {
	let gone: BridgeError | undefined;
	const request = (envelope: Envelope): Envelope => {
		if (gone) throw gone;
		const {told, token} = waiting.add(envelope);
		const named = token && token.told !== token.text ? withToken(envelope, token.told) : envelope;
		return told === envelope.head.id ? named : named.withId(told);
	};
	const answer = (envelope: Envelope, key: string): Envelope | undefined => {
		const isLast = envelope.original.isReceived || envelope.isConclusive;
		const found = isLast ? waiting.take(key) : waiting.takeUnanswered(key);
		if (found?.isCancelled && dropsCancelled) return;
		if (found) return found.id === envelope.head.id ? envelope : envelope.withId(found.id);
		const sentence = `${upstream} answered a request that nobody waits for; the answer was dropped.`;
		warnLimited(log, 'rpc.orphan_response', sentence, {id: shortened(key), server: upstream}, upstream);
		return;
	};
	const progress = (envelope: Envelope): Envelope | undefined => {
		const restored = waiting.progress.restored(envelope);
		if (restored) return restored;
		const sentence = `${upstream} told of the progress of something that nobody waits for.`;
		log.debug('rpc.orphan_progress', sentence, {server: upstream});
		return;
	};
	return stage(out => ({
		toUpstream(envelope) {
			const {key, method} = envelope.head;
			if (key !== undefined && method !== undefined) return request(envelope);
			if (gone) return;
			const meant = method === undefined ? envelope : rightlyNamed(envelope, method);
			return meant.head.method === 'notifications/cancelled' ? cancellation(meant, waiting) : meant;
		},
		toClient(envelope) {
			const {key, method} = envelope.head;
			if (method === undefined) return key === undefined ? envelope : answer(envelope, key);
			return method === 'notifications/progress' ? progress(envelope) : envelope;
		},
		upstreamGone(error) {
			if (error !== undefined && !(error instanceof BridgeError)) logBug(log, error);
			gone = error instanceof BridgeError ? error : closed(upstream);
			for (const id of waiting.takeAll()) out.toClient(Envelope.failure(id, gone));
		},
		outlivesUpstream: true,
	}));
}

/** A notification under the name that servers know it by. */
function rightlyNamed(envelope: Envelope, given: string): Envelope {
	const method = misnamed.get(given);
	return method === undefined ? envelope : change(envelope, body => ({...body, method}));
}

/** Tells the upstream of a cancelled request under the id that it knows it by. */
function cancellation(envelope: Envelope, waiting: WaitingRequests): Envelope | undefined {
	const id = memberText(envelope.bytes, 'params', 'requestId');
	if (id === undefined) return envelope;
	const found = waiting.cancel(id);
	// An upstream that rounds numbers would read it as the cancellation of another request.
	if (!found && waiting.methodOf(canonicalId(id)) !== undefined) return;
	if (!found || found.told === found.id) return envelope;
	return cancellingAs(envelope, found.told);
}

/** A request with another progress token. */
function withToken(request: Envelope, token: string): Envelope {
	const at = memberRange(request.bytes, 'params', '_meta', 'progressToken');
	return at ? request.replaced(at, token) : request;
}

const closed = (upstream: string): BridgeError =>
	new BridgeError(
		'ERR_SESSION_CLOSED',
		`The connection to ${upstream} was closed before it answered.`,
		'Connect again, and stay connected until the answers are there.',
	);
