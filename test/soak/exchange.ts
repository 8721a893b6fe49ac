export type Message = {readonly [key: string]: unknown};

/** The outcome of one request. */
export type Outcome = {
	/** The HTTP status, if the response has its own HTTP exchange. */
	readonly status?: number;
	/** The responses. There should be exactly one. */
	readonly responses: readonly Message[];
	/** The reason for a missing response. */
	readonly lost?: string;
	readonly sessionId?: string;
};

/** A client's connection to an upstream. */
export type Connection = {
	request(message: Message): Promise<Outcome>;
	notify(message: Message): Promise<void>;
	close(): void;
};

export type Address = {
	readonly base: URL;
	/** The path of the service. */
	readonly path: string;
	readonly token: string;
	/** A request without a response counts as lost after this time. */
	readonly patienceMs: number;
	/** Receives responses to requests that are not pending. */
	readonly onExtra: (message: Message) => void;
};

export const isResponse = (message: Message): boolean => !('method' in message);

/** The requests of a connection whose responses come on one stream. */
export class Pending {
	readonly #byId = new Map<unknown, (outcome: Outcome) => void>();
	readonly #address: Address;

	constructor(address: Address) {
		this.#address = address;
	}

	/** Resolves to the first response with this id. */
	wait(id: unknown): Promise<Outcome> {
		return new Promise(resolve => {
			const {patienceMs} = this.#address;
			const lost = `no response after ${patienceMs / 1000} s`;
			const timer = setTimeout(() => this.#settle(id, {responses: [], lost}), patienceMs);
			this.#byId.set(id, outcome => {
				clearTimeout(timer);
				resolve(outcome);
			});
		});
	}

	take(message: Message): void {
		if (!isResponse(message)) return;
		if (!this.#settle(message.id, {responses: [message]})) this.#address.onExtra(message);
	}

	/** Ends one request, or all that are pending. */
	fail(lost: string, ...ids: readonly unknown[]): void {
		for (const id of ids.length > 0 ? ids : [...this.#byId.keys()]) this.#settle(id, {responses: [], lost});
	}

	#settle(id: unknown, outcome: Outcome): boolean {
		const resolve = this.#byId.get(id);
		this.#byId.delete(id);
		resolve?.(outcome);
		return resolve !== undefined;
	}
}
