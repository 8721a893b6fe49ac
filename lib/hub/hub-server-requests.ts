import {cancellationFor} from '../core/edit-message.js';
import {Envelope} from '../core/envelope.js';
import {MAX_IDENTIFIER_LENGTH} from '../core/requests/progress.js';
import {BoundedMap} from '../util/bounded-map.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';
import type {HubUpstream} from './hub-upstream.js';

type PendingServerRequest = {
	readonly upstream: HubUpstream;
	/** The id of the server request, as text, and its key, the same for all spellings of it. */
	readonly id: string;
	readonly key: string;
	/** What the progress of the answer is told under, if it is to be. */
	readonly progressToken: string | undefined;
};

/** Questions of servers that the client has not answered yet; the oldest is forgotten for the next, and its server waits in vain. */
const MAX_SERVER_REQUESTS = 1000;

/** What servers ask the client: each under an id of the hub's own, so that two servers' never meet. */
export class HubServerRequests {
	readonly #pending = new BoundedMap<string, PendingServerRequest>(MAX_SERVER_REQUESTS);
	#lastId = 0;

	/**
	 * Takes a question in. Returns it as the client is to be asked, in the course of the request that it came with; nothing
	 * for one whose progress token is too long to be kept. A stage before has rejected ids that are.
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

	/** Gives an answer to who asked. Returns whether anybody did. */
	forwardResponse(envelope: Envelope): boolean {
		const pending = this.#pending.take(envelope.head.key ?? '');
		pending?.upstream.rpc?.sendMessage(envelope.forwardedAs(envelope.origin, pending.id));
		return pending !== undefined;
	}

	/** Tells who asked how the client gets on with it. */
	forwardProgress(envelope: Envelope): boolean {
		const progressToken = memberText(envelope.bytes, 'params', 'progressToken');
		const request = [...this.#pending.values()].find(
			pending => progressToken !== undefined && pending.progressToken === progressToken,
		);
		request?.upstream.rpc?.sendMessage(envelope);
		return request !== undefined;
	}

	/** The server no longer wants to know. Returns what the client is to be told then. */
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

	/** A server is gone, and with it what it asked. Returns what the client is to be told then. */
	cancelAllOf(upstream: HubUpstream): Envelope[] {
		const cancelled = [...this.#pending].filter(([, pending]) => pending.upstream === upstream);
		return cancelled.map(([clientRequestId]) => {
			this.#pending.delete(clientRequestId);
			const params = {requestId: JSON.parse(clientRequestId), reason: `${upstream.name} is gone`};
			return Envelope.of({jsonrpc: '2.0', method: 'notifications/cancelled', params});
		});
	}
}
