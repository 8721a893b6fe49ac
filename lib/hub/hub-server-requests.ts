import {cancellationFor} from '../core/edit-message.js';
import {Envelope} from '../core/envelope.js';
import {MAX_IDENTIFIER_LENGTH} from '../core/requests/progress.js';
import {BoundedMap} from '../util/bounded-map.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';
import type {HubUpstream} from './hub-upstream.js';

type PendingServerRequest = {
	readonly upstream: HubUpstream;
	/** The id of the server request as text, and its canonical form. */
	readonly id: string;
	readonly key: string;
	readonly progressToken: string | undefined;
};

/**
 * The maximum number of pending server requests. The oldest is evicted, and its upstream gets no response.
 */
const MAX_SERVER_REQUESTS = 1000;

/**
 * Server requests that were sent to the client, under ids of the hub, so that ids of two upstreams never
 * collide.
 */
export class HubServerRequests {
	readonly #pending = new BoundedMap<string, PendingServerRequest>(MAX_SERVER_REQUESTS);
	#lastId = 0;

	/**
	 * Adds a server request. Returns it as it is sent to the client, related to the client's request that it
	 * belongs to. Returns undefined if its progress token is too long to be stored; an earlier stage has
	 * rejected ids that are too long.
	 */
	add(upstream: HubUpstream, envelope: Envelope, relatedRequestId: string | undefined): Envelope | undefined {
		const {id = 'null', key = 'null'} = envelope.head;
		const progressToken = memberText(envelope.bytes, 'params', '_meta', 'progressToken');
		if (progressToken !== undefined && progressToken.length > MAX_IDENTIFIER_LENGTH) return;
		const clientRequestId = `"${upstream.name}-${++this.#lastId}"`;
		this.#pending.set(clientRequestId, {upstream, id, key, progressToken});
		const {name, valve} = envelope.origin;
		return envelope.forwardedAs(
			{name, valve, ...(relatedRequestId === undefined ? {} : {relatedRequestId})},
			clientRequestId,
		);
	}

	/**
	 * Forwards a response to the upstream that sent the request. Returns false if no such request is pending.
	 */
	forwardResponse(envelope: Envelope): boolean {
		const pending = this.#pending.take(envelope.head.key ?? '');
		pending?.upstream.rpc?.sendMessage(envelope.forwardedAs(envelope.origin, pending.id));
		return pending !== undefined;
	}

	/** Forwards progress to the upstream that sent the request. Returns false if no such request is pending. */
	forwardProgress(envelope: Envelope): boolean {
		const progressToken = memberText(envelope.bytes, 'params', 'progressToken');
		const request = [...this.#pending.values()].find(
			pending => progressToken !== undefined && pending.progressToken === progressToken,
		);
		request?.upstream.rpc?.sendMessage(envelope);
		return request !== undefined;
	}

	/** Removes a server request that its upstream has cancelled. Returns the cancellation for the client. */
	cancel(upstream: HubUpstream, envelope: Envelope): Envelope | undefined {
		const id = memberText(envelope.bytes, 'params', 'requestId') ?? '""';
		if (id.length > MAX_IDENTIFIER_LENGTH) return;
		const key = canonicalId(id);
		for (const [clientRequestId, pending] of this.#pending) {
			if (pending.upstream !== upstream || pending.key !== key) continue;
			this.#pending.delete(clientRequestId);
			return cancellationFor(envelope, clientRequestId);
		}
		return;
	}

	/** Removes the server requests of a disconnected upstream. Returns the cancellations for the client. */
	cancelAllOf(upstream: HubUpstream): Envelope[] {
		const cancelled = [...this.#pending].filter(([, pending]) => pending.upstream === upstream);
		return cancelled.map(([clientRequestId]) => {
			this.#pending.delete(clientRequestId);
			const params = {requestId: JSON.parse(clientRequestId), reason: `${upstream.name} has disconnected`};
			return Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params});
		});
	}
}
