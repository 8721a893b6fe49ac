import {BridgeError} from '../core/errors.js';
import type {PendingCount} from '../core/requests/pending.js';

/** The pending or open requests of each principal, by token. The number of tokens bounds the map. */
export class RequestQuotas {
	readonly #quota: () => number | undefined;
	readonly #byToken = new Map<string, PendingCount>();

	/** `quota` returns the limit of one principal, which may change. 0 or undefined means no limit. */
	constructor(quota: () => number | undefined) {
		this.#quota = quota;
	}

	get isEnabled(): boolean {
		return Boolean(this.#quota());
	}

	forToken(token: string): PendingCount {
		const existing = this.#byToken.get(token);
		if (existing) return existing;
		const quota: PendingCount = {count: 0, limitError: () => this.#limitError(quota)};
		this.#byToken.set(token, quota);
		return quota;
	}

	#limitError({count}: PendingCount): BridgeError | undefined {
		const limit = this.#quota() || Number.POSITIVE_INFINITY;
		if (count < limit) return;
		return new BridgeError(
			'ERR_SESSION_BUSY',
			`This client has ${count} pending or open requests, which is the limit for one client (limits.clientRequests).`,
			'Wait for responses and close streams before you send more, or raise the limit.',
			{limit},
		);
	}
}
