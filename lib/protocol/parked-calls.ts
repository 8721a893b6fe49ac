import {randomBytes} from 'node:crypto';
import {BoundedMap} from '../bounded-map.js';

const MAX_PARKED = 1000;
/** How long a person may take to answer. */
const TTL_MS = 10 * 60_000;

/** Calls whose client has been sent away for input, under words that nobody can guess. */
export class ParkedCalls<Call> {
	readonly #now: () => number;
	readonly #calls = new BoundedMap<string, {readonly call: Call; readonly until: number}>(MAX_PARKED);

	constructor(now = () => performance.now()) {
		this.#now = now;
	}

	/** The word to come back with. */
	add(call: Call): string {
		const state = `bridge.v1.${randomBytes(18).toString('base64url')}`;
		this.#calls.set(state, {call, until: this.#now() + TTL_MS});
		return state;
	}

	/** The call that waits under a word, once. */
	take(state: string): Call | undefined {
		const found = this.#calls.take(state);
		return found && found.until >= this.#now() ? found.call : undefined;
	}
}
