import type {HubUpstream} from './hub-upstream.js';

/** How much of the servers' logs the client wants to hear: each server is told, and those that come later, too. */
export class UpstreamLogLevel {
	#level: string | undefined;
	readonly #sentLevels = new WeakMap<HubUpstream, string>();

	setLevel(level: string, upstreams: readonly HubUpstream[]): void {
		this.#level = level;
		for (const upstream of upstreams) this.sendTo(upstream);
	}

	/** Tells a server, unless it knows. One that refuses goes on as it is; nobody waits for it. */
	sendTo(upstream: HubUpstream): void {
		const level = this.#level;
		if (level === undefined || !upstream.hasCapability('logging') || this.#sentLevels.get(upstream) === level)
			return;
		this.#sentLevels.set(upstream, level);
		void upstream.rpc?.request('logging/setLevel', {level});
	}

	/** A server that comes back has to be told again. */
	reset(upstream: HubUpstream): void {
		this.#sentLevels.delete(upstream);
	}
}
