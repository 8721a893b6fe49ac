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
	readonly pending?: PendingRequests;
	/** Whether late responses to cancelled requests are dropped. */
	readonly dropsCancelled?: boolean;
};

/**
 * Ensures that every client request gets one response, with the exact id of the request.
 *
 * A request with a pending id is rejected. Responses and progress without a pending request are dropped,
 * because some clients close the connection over them. When the upstream disconnects, pending and later
 * requests get an error with the reason.
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
		const message = `${upstream} sent a response that matches no pending request; it was dropped.`;
		warnRateLimited(log, 'rpc.orphan_response', message, {id: shortened(key), server: upstream}, upstream);
		return;
	};
	const handleProgress = (envelope: Envelope): Envelope | undefined => {
		const restored = pending.progress.restoreToken(envelope);
		if (restored) return restored;
		const message = `${upstream} sent progress that matches no pending request; it was dropped.`;
		log.debug('rpc.orphan_progress', message, {server: upstream});
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

/** Corrects the method of a notification that some clients misname. */
function withCorrectMethod(envelope: Envelope, original: string): Envelope {
	const method = misnamedNotifications.get(original);
	return method === undefined ? envelope : editMessage(envelope, body => ({...body, method}));
}

/** The cancellation with the id that the request has upstream. */
function renameCancellation(envelope: Envelope, pending: PendingRequests): Envelope | undefined {
	const id = memberText(envelope.bytes, 'params', 'requestId');
	if (id === undefined) return envelope;
	const request = pending.cancel(id);
	// An upstream that rounds numbers would read it as the cancellation of another request.
	if (!request && pending.methodOf(canonicalId(id)) !== undefined) return;
	if (!request || request.upstreamId === request.id) return envelope;
	return cancellationFor(envelope, request.upstreamId);
}

function withToken(request: Envelope, token: string): Envelope {
	const at = memberRange(request.bytes, 'params', '_meta', 'progressToken');
	return at ? request.withTextAt(at, token) : request;
}

const connectionClosed = (upstream: string): BridgeError =>
	new BridgeError(
		'ERR_SESSION_CLOSED',
		`The connection to ${upstream} was closed before it responded.`,
		'Connect again, and stay connected until all responses have arrived.',
	);
