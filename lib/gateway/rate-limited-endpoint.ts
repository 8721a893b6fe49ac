import {concatMap, EMPTY, finalize, from, mergeMap, type Observable, of} from 'rxjs';
import {Envelope} from '../core/envelope.js';
import {BridgeError} from '../core/errors.js';
import type {Endpoint} from '../core/stage.js';

export const rateLimitError = (waitMs: number): BridgeError => {
	const seconds = Math.ceil(waitMs / 1000);
	return new BridgeError(
		'ERR_SESSION_BUSY',
		'This client exceeds its request rate limit (limits.rate).',
		`Try again in ${seconds} s.`,
		{retryAfter: seconds},
	);
};

/** Applies the rate limit to a client that stays connected. Its requests are counted one by one, in order. */
export function rateLimitedEndpoint(endpoint: Endpoint, take: () => number | Promise<number>): Endpoint {
	const decide = (envelope: Envelope, waitMs: number): Observable<Envelope> => {
		if (waitMs === 0) return of(envelope);
		endpoint.outgoing.next(Envelope.errorResponse(envelope.head.id, rateLimitError(waitMs)));
		return EMPTY;
	};
	const admit = (envelope: Envelope): Observable<Envelope> => {
		const {id, method} = envelope.head;
		const waitMs = id === undefined || method === undefined ? 0 : take();
		if (typeof waitMs === 'number') return decide(envelope, waitMs);
		// Stops reading until the result is available.
		return from(waitMs).pipe(
			mergeMap(resolvedMs => decide(envelope, resolvedMs)),
			finalize(envelope.origin.valve.shut()),
		);
	};
	const {name, outgoing, disconnected} = endpoint;
	return {
		name,
		outgoing,
		disconnected,
		incoming: endpoint.incoming.pipe(concatMap(admit)),
		close: () => endpoint.close(),
	};
}
