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

/** Changes are merged: of upstreams that connect at about the same time, and of one that reconnects soon. */
const CONNECT_DELAY_MS = 50;
const DISCONNECT_DELAY_MS = 1000;

/** Notifies the client of changed lists, but only if their content has changed. */
export class ListChangeNotifier {
	readonly #options: ListChangeNotifierOptions;
	/** The tool list that the client last received or was notified of. Undefined before its first request. */
	lastToolList: string | undefined;
	/** The upstreams with resources or prompts at the last check. */
	#lastUpstreamNames: string | undefined;
	#timer: NodeJS.Timeout | undefined;

	constructor(options: ListChangeNotifierOptions) {
		this.#options = options;
	}

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
		// A client that has not requested the list yet needs no notification.
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
