import type {IncomingMessage} from 'node:http';
import {performance} from 'node:perf_hooks';
import type {Principal} from '../../upstream/conversation.js';
import {isAnonymousPrincipal} from '../../upstream/principal.js';
import type {Service} from '../../upstream/service.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {shortKey} from '../../util/short-key.js';
import type {ServicePrincipal} from './session-ids.js';
import type {SharedStore} from './shared-store.js';

/** Identifies a client among those with the same credentials. */
export type ClientIdentity = ServicePrincipal & {readonly clientKey: string};

/**
 * Returns the identity of a client; undefined for anonymous clients. Behind a load balancer all clients have
 * the same address, so only User-Agent distinguishes clients with the same credentials.
 */
export function clientIdentityOf(
	{headers}: IncomingMessage,
	{config}: Service,
	principal: Principal,
): ClientIdentity | undefined {
	if (isAnonymousPrincipal(principal)) return;
	return {service: config.name, principal: principal.id, clientKey: shortKey(headers['user-agent'] ?? '')};
}

const RETENTION_MS = 24 * 3600 * 1000;
/** The interval of writes while the most recent session stays the same. */
const REFRESH_INTERVAL_MS = 5000;
/** Clients whose last write is cached. The oldest is evicted. */
const MAX_RECORDED = 10_000;

/** The most recent sessions of clients, for those that omit the session id. All replicas share them. */
export class LastSessions {
	readonly #store: SharedStore;
	readonly #recorded = new BoundedMap<string, {readonly id: string; readonly until: number}>(MAX_RECORDED);

	constructor(store: SharedStore) {
		this.#store = store;
	}

	/** Records that a client has used a session. Does not wait for the write. */
	record(identity: ClientIdentity, id: string): void {
		const client = shortKey(identityText(identity));
		const recorded = this.#recorded.get(client);
		const now = performance.now();
		const idKey = shortKey(id);
		if (recorded?.id === idKey && now < recorded.until) return;
		this.#recorded.set(client, {id: idKey, until: now + REFRESH_INTERVAL_MS});
		const [key = ''] = this.#keysOf(identity);
		void this.#store.run(redis => redis.set(key, this.#store.seal(id, key), 'PX', RETENTION_MS));
	}

	/** Returns the public id of the client's most recent session; undefined if it is unknown. */
	async find(identity: ClientIdentity): Promise<string | undefined> {
		for (const key of this.#keysOf(identity)) {
			const id = await this.#read(key);
			if (id !== undefined) return id;
		}
		return;
	}

	async remove(identity: ClientIdentity, id: string): Promise<void> {
		this.#recorded.delete(shortKey(identityText(identity)));
		for (const key of this.#keysOf(identity))
			if ((await this.#read(key)) === id) await this.#store.run(redis => redis.del(key));
	}

	async #read(key: string): Promise<string | undefined> {
		const sealed = await this.#store.run(redis => redis.get(key));
		return sealed ? this.#store.unseal(sealed, key) : undefined;
	}

	#keysOf({service, principal, clientKey}: ClientIdentity): readonly string[] {
		return this.#store
			.blindedNames('last', service, principal, clientKey)
			.map(name => this.#store.key('last', name));
	}
}

const identityText = ({service, principal, clientKey}: ClientIdentity): string =>
	`${service} ${principal} ${clientKey}`;
