import {MAX_CONNECTIONS} from '../http/max-connections.js';
import {defaultRunSlots} from './default-run-slots.js';

/** The limits of one principal on resources that all clients share. 0 or undefined means no quota. */
export type Quotas = {
	readonly clientSessions: number | undefined;
	/** Concurrent programs of `run`. */
	readonly clientRuns: number | undefined;
	/** Pending requests, plus open HTTP requests, streams and WebSockets. */
	readonly clientRequests: number | undefined;
};

/** Resolves the quotas. With tokens for several principals, each defaults to half of the shared limit. */
export function resolveQuotas(quotas: Partial<Quotas>, tokens: readonly string[], sessions: number): Quotas {
	const isShared = new Set(tokens).size > 1;
	const half = (limit: number): number | undefined =>
		isShared ? Math.max(1, Math.floor(limit / 2)) : undefined;
	return {
		clientSessions: quotas.clientSessions ?? half(sessions),
		clientRuns: quotas.clientRuns ?? half(defaultRunSlots()),
		clientRequests: quotas.clientRequests ?? half(MAX_CONNECTIONS),
	};
}
