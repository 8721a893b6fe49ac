import {createHash, createHmac, type Hash, type Hmac, hkdfSync} from 'node:crypto';
import {performance} from 'node:perf_hooks';
import type {Log} from '../../core/log.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {connectRedis, type RedisConnection} from './redis.js';
import {Sealer} from './sealer.js';

const SEAL_PURPOSE = 'store';
const PREFIX = 'bridge:';
const CHANNEL = `${PREFIX}news`;
/** Names with subscribers. The oldest is evicted. */
const MAX_SUBSCRIBERS = 20_000;
/** The interval at which an unreachable store is tried again. */
const RETRY_INTERVAL_MS = 1000;

type StoreSubscriber = {
	readonly names: () => readonly string[];
	readonly onMessage: (message: string) => void;
};

/** An error that Redis returned for a command. */
type ReplyError = Error & {readonly command?: {readonly name?: string}};
const FORBIDDEN_CODE = 'NOPERM';

/**
 * The state that replicas share, in Redis or a compatible server. Its names cannot be guessed, and only
 * replicas can read its values.
 *
 * The store is optional: while it is unreachable or too slow, every command resolves to undefined.
 */
export class SharedStore {
	readonly #log: Log;
	#url: URL | undefined;
	#sealer = new Sealer([], SEAL_PURPOSE);
	#nameKeys: readonly Buffer[] = [];
	readonly #subscribers = new BoundedMap<string, StoreSubscriber>(MAX_SUBSCRIBERS);
	#commands: RedisConnection | undefined;
	#subscription: RedisConnection | undefined;
	#isUp: boolean | undefined;
	/** Since when the store was reachable without interruption, by the monotonic clock. */
	upSince: number | undefined;
	#onUp: () => void = () => {};
	#retryTimer: NodeJS.Timeout | undefined;
	/** Commands that the store's user may not use, and that were logged. */
	readonly #forbidden = new Set<string>();

	constructor(log: Log) {
		this.#log = log;
	}

	get isUp(): boolean {
		return this.#isUp === true;
	}

	get url(): URL | undefined {
		return this.#url;
	}

	/**
	 * Sets the secrets. The first one seals and names new data. Data written with the others stays readable.
	 */
	setSecrets(secrets: readonly string[]): void {
		this.#sealer = new Sealer(secrets, SEAL_PURPOSE, Number.POSITIVE_INFINITY);
		this.#nameKeys = secrets.map(secret =>
			Buffer.from(hkdfSync('sha256', secret, '', 'bridge names in the store', 32)),
		);
		const subscribers = new Set(this.#subscribers.values());
		this.#subscribers.clear();
		for (const subscriber of subscribers) this.#register(subscriber);
	}

	/** Changes to another store. Its data is not copied from the previous one. */
	async open(url: URL): Promise<void> {
		this.close();
		this.#url = url;
		const [commands, subscription] = await Promise.all([connectRedis(url), connectRedis(url)]);
		if (this.#url !== url) {
			commands.disconnect();
			subscription.disconnect();
			return;
		}
		this.#commands = commands;
		this.#subscription = subscription;
		const onClose = (): void => {
			if (this.#commands === commands) this.#setUp(false);
		};
		commands.on('error', () => {}).on('close', onClose);
		subscription.on('error', () => {}).on('close', onClose);
		commands.on('ready', () => void this.#probe());
		subscription.on('ready', () => void this.#probe());
		subscription.on('message', (_channel: string, message: string) => this.#dispatch(message));
	}

	/**
	 * Returns names for this combination that do not reveal it: one for each secret, the first one for writing.
	 */
	blindedNames(...parts: readonly string[]): readonly string[] {
		const text = JSON.stringify(parts);
		return this.#nameKeys.map(key => shortDigest(createHmac('sha256', key).update(text)));
	}

	/**
	 * Returns a name for this combination, of which one part is long and random. It does not depend on the
	 * secrets.
	 */
	hashedName(...parts: readonly string[]): string {
		return shortDigest(createHash('sha256').update(JSON.stringify(parts)));
	}

	key(kind: string, name?: string): string {
		return name === undefined ? `${PREFIX}${kind}` : `${PREFIX}${kind}:${name}`;
	}

	seal(value: string, key: string): string {
		return this.#sealer.seal(value, key);
	}

	unseal(value: string, key: string): string | undefined {
		return this.#sealer.unseal(value, key);
	}

	/** Runs a command. Resolves to undefined if the store is unreachable or rejects the command. */
	async run<T>(command: (redis: RedisConnection) => Promise<T>): Promise<T | undefined> {
		const commands = this.#commands;
		if (!commands || !this.isUp) return;
		try {
			return await command(commands);
		} catch (error) {
			if (this.#commands !== commands) return;
			// The timeout may be due to a busy event loop here. The probe decides whether the store is reachable.
			if (commands.status === 'ready')
				void this.#probe().then(() => this.#warnForbidden(error as ReplyError));
			else this.#setUp(false);
			return;
		}
	}

	publish(name: string, message: string): void {
		void this.run(redis => redis.publish(CHANNEL, `${name} ${message}`));
	}

	/**
	 * Calls back with each message under a name, and with an empty text when messages may have been missed.
	 * Returns a function that ends the subscription.
	 */
	subscribe(name: string, onMessage: StoreSubscriber['onMessage']): () => void {
		return this.subscribeAll(() => [name], onMessage);
	}

	/** Like `subscribe`, for names that depend on the secrets. */
	subscribeAll(names: StoreSubscriber['names'], onMessage: StoreSubscriber['onMessage']): () => void {
		const subscriber = {names, onMessage};
		this.#register(subscriber);
		return () => {
			for (const name of names())
				if (this.#subscribers.get(name) === subscriber) this.#subscribers.delete(name);
		};
	}

	#register(subscriber: StoreSubscriber): void {
		for (const name of subscriber.names()) this.#subscribers.set(name, subscriber);
	}

	/** Calls back whenever the store becomes reachable, and immediately if it is reachable now. */
	onUp(callback: () => void): void {
		this.#onUp = callback;
		if (this.isUp) callback();
	}

	close(): void {
		clearTimeout(this.#retryTimer);
		const [commands, subscription] = [this.#commands, this.#subscription];
		this.#forbidden.clear();
		this.#url = undefined;
		this.#commands = undefined;
		this.#subscription = undefined;
		this.#isUp = undefined;
		this.upSince = undefined;
		commands?.disconnect();
		subscription?.disconnect();
	}

	#dispatch(message: string): void {
		const at = message.indexOf(' ');
		this.#subscribers.get(message.slice(0, at))?.onMessage(message.slice(at + 1));
	}

	/**
	 * The store counts as reachable if it accepts writes and a subscription. A store that is full, or a
	 * read-only copy, accepts reads only.
	 */
	async #probe(): Promise<void> {
		clearTimeout(this.#retryTimer);
		const [commands, subscription] = [this.#commands, this.#subscription];
		if (commands?.status !== 'ready' || subscription?.status !== 'ready') return;
		const written = commands.set(this.key('trial'), '', 'PX', RETRY_INTERVAL_MS);
		const failure = await Promise.all([written, subscription.subscribe(CHANNEL)]).then(
			() => undefined,
			(error: Error) => error,
		);
		if (this.#commands === commands) this.#setUp(!failure, errorCodeOf(failure));
	}

	/**
	 * Logs a command that the store's user may not use. The store rejects it each time, so it is logged once.
	 */
	#warnForbidden(error: ReplyError): void {
		const {name = ''} = error.command ?? {};
		if (errorCodeOf(error) !== FORBIDDEN_CODE || !this.isUp || this.#forbidden.has(name)) return;
		this.#forbidden.add(name);
		const sentence = `The store does not allow its user the command ${name}. State that needs this command is not shared between replicas.`;
		this.#log.warn('store.forbidden', sentence, {command: name});
	}

	/** `rejection` is the error code of a store that is reachable but rejects commands. */
	#setUp(isUp: boolean, rejection?: string): void {
		clearTimeout(this.#retryTimer);
		if (!isUp) this.#retryTimer = setTimeout(() => void this.#probe(), RETRY_INTERVAL_MS).unref();
		if (isUp === this.#isUp) return;
		const wasDown = this.#isUp === false;
		this.#isUp = isUp;
		this.upSince = isUp ? performance.now() : undefined;
		if (isUp) {
			this.#onUp();
			for (const {onMessage} of new Set(this.#subscribers.values())) onMessage('');
		}
		const state = rejection === undefined ? 'cannot be reached' : `rejects commands (${rejection})`;
		if (!isUp)
			this.#log.warn('store.down', `The store ${state}. This replica continues with its own state.`, {
				reason: rejection,
			});
		else if (wasDown)
			this.#log.warn('store.up', 'The store can be reached again. Cached state is read again.');
	}
}

const shortDigest = (hash: Hash | Hmac): string => hash.digest('base64url').slice(0, 32);

/** Returns the error code of the store, such as `OOM` or `READONLY`. */
function errorCodeOf(error: unknown): string | undefined {
	return error instanceof Error ? /^[A-Z]{3,20}(?= )/.exec(error.message)?.[0] : undefined;
}
