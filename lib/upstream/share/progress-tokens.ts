import {BoundedMap} from '../../util/bounded-map.js';

/** Limit of tokens in use. The oldest is evicted. */
const MAX_TOKENS = 65_536;

/**
 * Progress tokens of clients that share an upstream. Clients choose their tokens independently, so the
 * upstream gets unique ones instead. Progress with an unknown token has no owner.
 */
export class ProgressTokens<Owner> {
	readonly #owners = new BoundedMap<unknown, {readonly owner: Owner; readonly token: unknown}>(MAX_TOKENS);
	readonly #prefix: string;
	#count = 0;

	/** Each token starts with the prefix, which has to be unpredictable where clients are not trusted. */
	constructor(prefix = 'b') {
		this.#prefix = prefix;
	}

	/** Returns the token to send to the upstream in place of the client's token, which may be 0. */
	register(owner: Owner, token: unknown): string {
		const upstreamToken = `${this.#prefix}${++this.#count}`;
		this.#owners.set(upstreamToken, {owner, token});
		return upstreamToken;
	}

	/** Returns the owner of the progress and its own token; undefined once the request has a response. */
	ownerOf(upstreamToken: unknown): {readonly owner: Owner; readonly token: unknown} | undefined {
		return this.#owners.get(upstreamToken);
	}

	release(upstreamToken: string): void {
		this.#owners.delete(upstreamToken);
	}
}
