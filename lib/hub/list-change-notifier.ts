import type {ExposeMode} from '../config/schema.js';
import {Envelope} from '../core/envelope.js';
import type {HubUpstream} from './hub-upstream.js';
import type {HubUpstreams} from './hub-upstreams.js';
import type {MergedTools} from './merged-tools.js';

type ListChangeNotifierOptions = {
	readonly send: (envelope: Envelope) => void;
	readonly upstreams: HubUpstreams;
	readonly mergedTools: MergedTools;
	readonly expose: () => ExposeMode;
};

/** Servers that come at about the same time are told of together; one that is back soon was never away. */
const CONNECT_DELAY_MS = 50;
const DISCONNECT_DELAY_MS = 1000;

/** Tells the client that there is something else to list, when there really is. */
export class ListChangeNotifier {
	readonly #options: ListChangeNotifierOptions;
	/** The list of tools that the client was given, or was told to ask for. */
	lastToolList: string | undefined;
	/** The servers that were there when the client last heard of resources and prompts. */
	#lastUpstreamNames: string | undefined;
	#timer: NodeJS.Timeout | undefined;

	constructor(options: ListChangeNotifierOptions) {
		this.#options = options;
	}

	/** A server came, went, or has other tools. */
	onUpstreamChange({state}: HubUpstream): void {
		this.schedule(state === 'connected' ? CONNECT_DELAY_MS : DISCONNECT_DELAY_MS);
	}

	schedule(delayMs = CONNECT_DELAY_MS): void {
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => this.#notifyChanges(), delayMs).unref();
	}

	close(): void {
		clearTimeout(this.#timer);
	}

	#notifyChanges(): void {
		const {mergedTools, upstreams, expose} = this.#options;
		const upstreamNames = upstreams.connected
			.filter(upstream => upstream.hasCapability('resources') || upstream.hasCapability('prompts'))
			.map(({name}) => name)
			.join();
		const hasChanged = this.#lastUpstreamNames !== undefined && upstreamNames !== this.#lastUpstreamNames;
		this.#lastUpstreamNames = upstreamNames;
		// Who has not asked yet will hear of all that there is then.
		if (this.lastToolList !== undefined && mergedTools.resultJson() !== this.lastToolList) {
			this.lastToolList = mergedTools.resultJson();
			this.#notify('tools');
		}
		if (!hasChanged || expose() === 'run') return;
		this.#notify('resources');
		this.#notify('prompts');
	}

	#notify(list: string): void {
		const method = `notifications/${list}/list_changed`;
		this.#options.send(Envelope.fromText(`{"jsonrpc":"2.0","method":"${method}"}`));
	}
}
