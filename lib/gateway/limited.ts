import {concatMap, EMPTY, finalize, from, mergeMap, type Observable, of} from 'rxjs';
import {Envelope} from '../envelope.js';
import {BridgeError} from '../errors.js';
import type {Endpoint} from '../stage.js';

/** What a caller hears that asks more often than it may. */
export const tooOften = (waitMs: number): BridgeError => {
	const seconds = Math.ceil(waitMs / 1000);
	return new BridgeError(
		'ERR_SESSION_BUSY',
		'This caller asks more often than it may (limits.rate).',
		`Try again in ${seconds} s.`,
		{retryAfter: seconds},
	);
};

/** The endpoint of a client that stays connected, whose requests are counted one by one, in their order. */
export function limited(endpoint: Endpoint, take: () => number | Promise<number>): Endpoint {
	const decide = (envelope: Envelope, waitMs: number): Observable<Envelope> => {
		if (waitMs === 0) return of(envelope);
		endpoint.outgoing.next(Envelope.failure(envelope.head.id, tooOften(waitMs)));
		return EMPTY;
	};
	const admit = (envelope: Envelope): Observable<Envelope> => {
		const {id, method} = envelope.head;
		const waitMs = id === undefined || method === undefined ? 0 : take();
		if (typeof waitMs === 'number') return decide(envelope, waitMs);
		// Nothing more is read until it is known.
		return from(waitMs).pipe(
			mergeMap(known => decide(envelope, known)),
			finalize(envelope.origin.valve.shut()),
		);
	};
	const {name, outgoing, gone} = endpoint;
	return {
		name,
		outgoing,
		gone,
		incoming: endpoint.incoming.pipe(concatMap(admit)),
		close: () => endpoint.close(),
	};
}
