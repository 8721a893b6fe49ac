import {concatMap, EMPTY, finalize, from, mergeMap, type Observable, of} from 'rxjs';
import {Envelope} from '../core/envelope.js';
import {BridgeError} from '../core/errors.js';
import type {Endpoint} from '../core/stage.js';

/** What a caller hears that asks more often than it may. */
export const rateLimitError = (waitMs: number): BridgeError => {
	const seconds = Math.ceil(waitMs / 1000);
	return new BridgeError(
		'ERR_SESSION_BUSY',
		'This caller asks more often than it may (limits.rate).',
		`Try again in ${seconds} s.`,
		{retryAfter: seconds},
	);
};

/** The endpoint of a client that stays connected, whose requests are counted one by one, in their order. */
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
		// Nothing more is read until it is known.
		return from(waitMs).pipe(
			mergeMap(resolvedMs => decide(envelope, resolvedMs)),
			finalize(envelope.origin.valve.shut()),
		);
	};
	const {name, outgoing, disconnected: gone} = endpoint;
	return {
		name,
		outgoing,
		disconnected: gone,
		incoming: endpoint.incoming.pipe(concatMap(admit)),
		close: () => endpoint.close(),
	};
}
