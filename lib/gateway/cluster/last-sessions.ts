import type {IncomingMessage} from 'node:http';
import {performance} from 'node:perf_hooks';
import type {Principal} from '../../upstream/conversation.js';
import {isAnonymousPrincipal} from '../../upstream/principal.js';
import type {Service} from '../../upstream/service.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {shortKey} from '../../util/short-key.js';
import type {ServicePrincipal} from './session-ids.js';
import type {SharedStore} from './shared-store.js';

/** Which client it is, among those that show the same credentials. */
export type ClientIdentity = ServicePrincipal & {readonly clientKey: string};

/**
 * Which client asks for what, as far as one can be told from another behind a balancer, where all have the same address.
 * One that shows nothing could be anybody.
 */
export function clientIdentityOf(
	{headers}: IncomingMessage,
	{config}: Service,
	principal: Principal,
): ClientIdentity | undefined {
	if (isAnonymousPrincipal(principal)) return;
	return {service: config.name, principal: principal.id, clientKey: shortKey(headers['user-agent'] ?? '')};
}

/** How long it is remembered which session a client used last. */
const RETENTION_MS = 24 * 3600 * 1000;
/** How often it is written down anew while it stays the same. */
const REFRESH_INTERVAL_MS = 5000;
/** Clients of which it is known what was written down. The oldest is forgotten for the next. */
const MAX_RECORDED = 10_000;

/** The sessions that clients used last, for those that do not say which one they mean, at whatever replica they ask. */
export class LastSessions {
	readonly #store: SharedStore;
	readonly #recorded = new BoundedMap<string, {readonly id: string; readonly until: number}>(MAX_RECORDED);

	constructor(store: SharedStore) {
		this.#store = store;
	}

	/** A client has used the session that it knows by this id. Nobody waits for that to be written. */
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

	/** The id of the session that a client used last; undefined when that is not known. */
	async find(identity: ClientIdentity): Promise<string | undefined> {
		for (const key of this.#keysOf(identity)) {
			const id = await this.#read(key);
			if (id !== undefined) return id;
		}
		return;
	}

	/** A client has ended a session. */
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
