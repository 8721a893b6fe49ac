import {cancellationFor, editMessage} from '../core/edit-message.js';
import {Envelope} from '../core/envelope.js';
import {BridgeError} from '../core/errors.js';
import {type Log, logBug} from '../core/log.js';
import {PendingRequests} from '../core/requests/pending.js';
import {type Stage, stage} from '../core/stage.js';
import {warnRateLimited} from '../core/warn-rate-limited.js';
import {misnamedNotifications} from '../protocol/repairs.js';
import {shortened} from '../util/printable.js';
import {canonicalId} from '../wire/id.js';
import {memberRange, memberText} from '../wire/member.js';

type MatchResponsesOptions = {
	readonly log: Log;
	readonly upstream: string;
	/** Where requests are kept until they are answered. */
	readonly pending?: PendingRequests;
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
export function matchResponses({
	log,
	upstream,
	pending = new PendingRequests(),
	dropsCancelled = false,
}: MatchResponsesOptions): Stage {
	let closeError: BridgeError | undefined;
	const addRequest = (envelope: Envelope): Envelope => {
		if (closeError) throw closeError;
		const {upstreamId, token} = pending.add(envelope);
		const renamed =
			token && token.upstreamText !== token.text ? withToken(envelope, token.upstreamText) : envelope;
		return upstreamId === envelope.head.id ? renamed : renamed.withId(upstreamId);
	};
	const handleResponse = (envelope: Envelope, key: string): Envelope | undefined => {
		const isLast = envelope.original.isReceived || envelope.isFinalResponse;
		const request = isLast ? pending.settle(key) : pending.abandon(key);
		if (request?.isCancelled && dropsCancelled) return;
		if (request) return request.id === envelope.head.id ? envelope : envelope.withId(request.id);
		const sentence = `${upstream} answered a request that nobody waits for; the answer was dropped.`;
		warnRateLimited(log, 'rpc.orphan_response', sentence, {id: shortened(key), server: upstream}, upstream);
		return;
	};
	const handleProgress = (envelope: Envelope): Envelope | undefined => {
		const restored = pending.progress.restoreToken(envelope);
		if (restored) return restored;
		const sentence = `${upstream} told of the progress of something that nobody waits for.`;
		log.debug('rpc.orphan_progress', sentence, {server: upstream});
		return;
	};
	return stage(out => ({
		toUpstream(envelope) {
			const {key, method} = envelope.head;
			if (key !== undefined && method !== undefined) return addRequest(envelope);
			if (closeError) return;
			const corrected = method === undefined ? envelope : withCorrectMethod(envelope, method);
			return corrected.head.method === 'notifications/cancelled'
				? renameCancellation(corrected, pending)
				: corrected;
		},
		toClient(envelope) {
			const {key, method} = envelope.head;
			if (method === undefined) return key === undefined ? envelope : handleResponse(envelope, key);
			return method === 'notifications/progress' ? handleProgress(envelope) : envelope;
		},
		upstreamClosed(error) {
			if (error !== undefined && !(error instanceof BridgeError)) logBug(log, error);
			closeError = error instanceof BridgeError ? error : connectionClosed(upstream);
			for (const id of pending.drain()) out.toClient(Envelope.errorResponse(id, closeError));
		},
		outlivesUpstream: true,
	}));
}

/** A notification under the name that servers know it by. */
function withCorrectMethod(envelope: Envelope, original: string): Envelope {
	const method = misnamedNotifications.get(original);
	return method === undefined ? envelope : editMessage(envelope, body => ({...body, method}));
}

/** Tells the upstream of a cancelled request under the id that it knows it by. */
function renameCancellation(envelope: Envelope, pending: PendingRequests): Envelope | undefined {
	const id = memberText(envelope.bytes, 'params', 'requestId');
	if (id === undefined) return envelope;
	const request = pending.cancel(id);
	// An upstream that rounds numbers would read it as the cancellation of another request.
	if (!request && pending.methodOf(canonicalId(id)) !== undefined) return;
	if (!request || request.upstreamId === request.id) return envelope;
	return cancellationFor(envelope, request.upstreamId);
}

/** A request with another progress token. */
function withToken(request: Envelope, token: string): Envelope {
	const at = memberRange(request.bytes, 'params', '_meta', 'progressToken');
	return at ? request.withTextAt(at, token) : request;
}

const connectionClosed = (upstream: string): BridgeError =>
	new BridgeError(
		'ERR_SESSION_CLOSED',
		`The connection to ${upstream} was closed before it answered.`,
		'Connect again, and stay connected until the answers are there.',
	);
