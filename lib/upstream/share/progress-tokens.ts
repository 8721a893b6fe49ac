import {BoundedMap} from '../../util/bounded-map.js';

/** Tokens that may be under way at a time; the oldest is forgotten for the next. */
const MAX_TOKENS = 65_536;

/**
 * Progress tokens of clients that share an upstream. Each of them counts as it likes, so the upstream is told tokens of
 * bridge's own, and progress that nobody waits for is nobody's.
 */
export class ProgressTokens<Owner> {
	readonly #owners = new BoundedMap<unknown, {readonly owner: Owner; readonly token: unknown}>(MAX_TOKENS);
	readonly #prefix: string;
	#count = 0;

	/** What all tokens of bridge's own begin with: something that no client would think of, where clients are not trusted. */
	constructor(prefix = 'b') {
		this.#prefix = prefix;
	}

	/** The token to tell the upstream in place of a client's own, which may be 0. */
	register(owner: Owner, token: unknown): string {
		const upstreamToken = `${this.#prefix}${++this.#count}`;
		this.#owners.set(upstreamToken, {owner, token});
		return upstreamToken;
	}

	/** Whose progress it is, with the token that they know; nothing, if nobody waits for it. */
	ownerOf(upstreamToken: unknown): {readonly owner: Owner; readonly token: unknown} | undefined {
		return this.#owners.get(upstreamToken);
	}

	/** The request is answered. */
	release(upstreamToken: string): void {
		this.#owners.delete(upstreamToken);
	}
}
