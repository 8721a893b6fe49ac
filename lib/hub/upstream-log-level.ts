import type {HubUpstream} from './hub-upstream.js';

/** The log level that the client has set. It is sent to all upstreams, including those that connect later. */
export class UpstreamLogLevel {
	#level: string | undefined;
	readonly #sentLevels = new WeakMap<HubUpstream, string>();

	setLevel(level: string, upstreams: readonly HubUpstream[]): void {
		this.#level = level;
		for (const upstream of upstreams) this.sendTo(upstream);
	}

	/**
	 * Sends the level to an upstream, unless it has it already. The response is ignored: an upstream may reject
	 * the request.
	 */
	sendTo(upstream: HubUpstream): void {
		const level = this.#level;
		if (level === undefined || !upstream.hasCapability('logging') || this.#sentLevels.get(upstream) === level)
			return;
		this.#sentLevels.set(upstream, level);
		void upstream.rpc?.request('logging/setLevel', {level});
	}

	/** A reconnected upstream needs the level again. */
	reset(upstream: HubUpstream): void {
		this.#sentLevels.delete(upstream);
	}
}
