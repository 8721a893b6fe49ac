import {BridgeError} from '../errors.js';
import type {Tally} from '../waiting-requests.js';

/** The pending or open requests of each principal, by token. The number of tokens bounds the map. */
export class Tallies {
	readonly #quota: () => number | undefined;
	readonly #byToken = new Map<string, Tally>();

	/** The quota of one principal may change; 0 or undefined is none. */
	constructor(quota: () => number | undefined) {
		this.#quota = quota;
	}

	get areLimited(): boolean {
		return Boolean(this.#quota());
	}

	of(token: string): Tally {
		const known = this.#byToken.get(token);
		if (known) return known;
		const tally: Tally = {count: 0, problem: () => this.#problem(tally)};
		this.#byToken.set(token, tally);
		return tally;
	}

	#problem({count}: Tally): BridgeError | undefined {
		const limit = this.#quota() || Number.POSITIVE_INFINITY;
		if (count < limit) return;
		return new BridgeError(
			'ERR_SESSION_BUSY',
			`This client has ${count} pending or open requests, which is the limit for one client (limits.clientRequests).`,
			'Wait for responses and close streams before you send more, or raise that limit.',
			{limit},
		);
	}
}
