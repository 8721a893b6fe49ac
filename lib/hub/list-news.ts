import type {Expose} from '../config/schema.js';
import {Envelope} from '../envelope.js';
import type {Member} from './member.js';
import type {Members} from './members.js';
import type {ToolListing} from './tool-listing.js';

export type ListNewsOptions = {
	readonly say: (envelope: Envelope) => void;
	readonly members: Members;
	readonly tools: ToolListing;
	readonly expose: () => Expose;
};

/** Servers that come at about the same time are told of together; one that is back soon was never away. */
const SOON_MS = 50;
const AWAY_MS = 1000;

/** Tells the client that there is something else to list, when there really is. */
export class ListNews {
	readonly #options: ListNewsOptions;
	/** The list of tools that the client was given, or was told to ask for. */
	shown: string | undefined;
	/** The servers that were there when the client last heard of resources and prompts. */
	#present: string | undefined;
	#timer: NodeJS.Timeout | undefined;

	constructor(options: ListNewsOptions) {
		this.#options = options;
	}

	/** A server came, went, or has other tools. */
	changed({state}: Member): void {
		this.later(state === 'connected' ? SOON_MS : AWAY_MS);
	}

	later(ms = SOON_MS): void {
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => this.#tell(), ms).unref();
	}

	close(): void {
		clearTimeout(this.#timer);
	}

	#tell(): void {
		const {tools, members, expose} = this.#options;
		const present = members.connected
			.filter(member => member.offers('resources') || member.offers('prompts'))
			.map(({name}) => name)
			.join();
		const isOther = this.#present !== undefined && present !== this.#present;
		this.#present = present;
		// Who has not asked yet will hear of all that there is then.
		if (this.shown !== undefined && tools.text() !== this.shown) {
			this.shown = tools.text();
			this.#notify('tools');
		}
		if (!isOther || expose() === 'run') return;
		this.#notify('resources');
		this.#notify('prompts');
	}

	#notify(what: string): void {
		const method = `notifications/${what}/list_changed`;
		this.#options.say(Envelope.fromText(`{"jsonrpc":"2.0","method":"${method}"}`));
	}
}
