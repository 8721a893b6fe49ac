import {BridgeError} from '../../core/errors.js';
import {MAX_IDENTIFIER_LENGTH} from '../../core/requests/progress.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {shortKey} from '../../util/short-key.js';
import type {MessageHead} from '../../wire/scan.js';

/** Limit of the upstream's tasks and elicitations whose owner is known. The oldest is evicted. */
const MAX_OWNED = 10_000;

/** Rejects a request whose id or method is too long to be stored until its response. */
export function checkKeyLengths({id = '', method = ''}: Pick<MessageHead, 'id' | 'method'>): void {
	if (id.length <= MAX_IDENTIFIER_LENGTH && method.length <= MAX_IDENTIFIER_LENGTH) return;
	throw new BridgeError(
		'ERR_MESSAGE_INVALID',
		`The id or the method of this request has more than ${MAX_IDENTIFIER_LENGTH} characters.`,
		'Send a shorter one.',
		{limit: MAX_IDENTIFIER_LENGTH},
	);
}

/** The clients that own what the upstream has named: tasks, and pages that a client is to open. */
export class OwnerMap<Client> {
	readonly #byKey = new BoundedMap<string | number, Client>(MAX_OWNED);

	/** Ignores names that are neither strings nor numbers. */
	set(name: unknown, client: Client): void {
		const key = keyOf(name);
		if (key !== undefined) this.#byKey.set(key, client);
	}

	get(name: unknown): Client | undefined {
		const key = keyOf(name);
		return key === undefined ? undefined : this.#byKey.get(key);
	}

	keys(): Iterable<string | number> {
		return this.#byKey.keys();
	}

	clear(): void {
		this.#byKey.clear();
	}
}

const keyOf = (name: unknown): string | number | undefined => {
	if (typeof name === 'string') return shortKey(name);
	return typeof name === 'number' ? name : undefined;
};
