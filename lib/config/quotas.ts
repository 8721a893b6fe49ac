import {MAX_CONNECTIONS} from '../http/max-connections.js';
import {defaultRunSlots} from './default-run-slots.js';

/** Shares of one principal in what all clients of the gateway use together. 0 and undefined: no quota. */
export type Quotas = {
	readonly clientSessions: number | undefined;
	/** Programs of `run` at once. */
	readonly clientRuns: number | undefined;
	/** Requests that are pending, and HTTP requests, streams and WebSockets that are open. */
	readonly clientRequests: number | undefined;
};

/** The quotas of a configuration: half of each limit by default, where there are tokens for several principals. */
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
