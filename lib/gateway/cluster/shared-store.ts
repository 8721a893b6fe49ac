import {createHash, createHmac, type Hash, type Hmac, hkdfSync} from 'node:crypto';
import {performance} from 'node:perf_hooks';
import type {Log} from '../../core/log.js';
import {BoundedMap} from '../../util/bounded-map.js';
import {connectRedis, type RedisConnection} from './redis.js';
import {Sealer} from './sealer.js';

const SEAL_PURPOSE = 'store';
const PREFIX = 'bridge:';
const CHANNEL = `${PREFIX}news`;
/** Names that somebody wants to hear news of. The oldest is forgotten for the next. */
const MAX_SUBSCRIBERS = 20_000;
/** How often a store that did not answer in time is tried again. */
const RETRY_INTERVAL_MS = 1000;

type StoreSubscriber = {
	readonly names: () => readonly string[];
	readonly hear: (what: string) => void;
};

/** What Redis says about a command that it has understood. */
type ReplyError = Error & {readonly command?: {readonly name?: string}};
const FORBIDDEN_CODE = 'NOPERM';

/**
 * What replicas share, in Redis or whatever speaks like it. It holds names that nobody can guess and values that only
 * replicas can read.
 *
 * Nobody depends on it: while it is not there, or too slow, everything asked of it is answered with nothing, at once.
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
	/** Since when it has been there without a break, by a clock that is never set. */
	upSince: number | undefined;
	#onUp: () => void = () => {};
	#retryTimer: NodeJS.Timeout | undefined;
	/** Commands that its user may not use, and of which that was told. */
	readonly #forbidden = new Set<string>();

	constructor(log: Log) {
		this.#log = log;
	}

	get isUp(): boolean {
		return this.#isUp === true;
	}

	/** Where it is; undefined if there is none. */
	get url(): URL | undefined {
		return this.#url;
	}

	/** The first secret seals and names what is written; what was written with another one is found, too. */
	setSecrets(secrets: readonly string[]): void {
		this.#sealer = new Sealer(secrets, SEAL_PURPOSE, Number.POSITIVE_INFINITY);
		this.#nameKeys = secrets.map(secret =>
			Buffer.from(hkdfSync('sha256', secret, '', 'bridge names in the store', 32)),
		);
		const subscribers = new Set(this.#subscribers.values());
		this.#subscribers.clear();
		for (const subscriber of subscribers) this.#register(subscriber);
	}

	/** Goes to where a store is. All that is known by others at the place before has to be written anew. */
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

	/** The name for what belongs to these, which tells nobody what they are: one by each secret, the first to write under. */
	blindedNames(...parts: readonly string[]): readonly string[] {
		const text = JSON.stringify(parts);
		return this.#nameKeys.map(key => shortDigest(createHmac('sha256', key).update(text)));
	}

	/** A name for what belongs to these, of which one is long and random. It does not depend on the secrets. */
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

	/** Asks something of the store. Resolves to undefined when it cannot be had. */
	async run<T>(command: (redis: RedisConnection) => Promise<T>): Promise<T | undefined> {
		const commands = this.#commands;
		if (!commands || !this.isUp) return;
		try {
			return await command(commands);
		} catch (error) {
			if (this.#commands !== commands) return;
			// Who was busy itself may have looked at the clock too late. If it does not answer now, it is not asked until it does.
			if (commands.status === 'ready')
				void this.#probe().then(() => this.#warnForbidden(error as ReplyError));
			else this.#setUp(false);
			return;
		}
	}

	/** Tells all who share the store. */
	publish(name: string, message: string): void {
		void this.run(redis => redis.publish(CHANNEL, `${name} ${message}`));
	}

	/** Hears what others tell under a name, and nothing when something may have been missed. What it returns ends that. */
	subscribe(name: string, onMessage: StoreSubscriber['hear']): () => void {
		return this.subscribeAll(() => [name], onMessage);
	}

	/** The same, under names that are others when the secrets are. */
	subscribeAll(names: StoreSubscriber['names'], onMessage: StoreSubscriber['hear']): () => void {
		const subscriber = {names, hear: onMessage};
		this.#register(subscriber);
		return () => {
			for (const name of names())
				if (this.#subscribers.get(name) === subscriber) this.#subscribers.delete(name);
		};
	}

	#register(subscriber: StoreSubscriber): void {
		for (const name of subscriber.names()) this.#subscribers.set(name, subscriber);
	}

	/** Has this done whenever the store is there, the first time included. */
	onUp(callback: () => void): void {
		this.#onUp = callback;
		if (this.isUp) callback();
	}

	/** There is no store any more. */
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
		this.#subscribers.get(message.slice(0, at))?.hear(message.slice(at + 1));
	}

	/** It is there when it can be written to, and what others tell is heard. One that is full, or a copy, can only be read. */
	async #probe(): Promise<void> {
		clearTimeout(this.#retryTimer);
		const [commands, subscription] = [this.#commands, this.#subscription];
		if (commands?.status !== 'ready' || subscription?.status !== 'ready') return;
		const written = commands.set(this.key('trial'), '', 'PX', RETRY_INTERVAL_MS);
		const problem = await Promise.all([written, subscription.subscribe(CHANNEL)]).then(
			() => undefined,
			(error: Error) => error,
		);
		if (this.#commands === commands) this.#setUp(!problem, errorCodeOf(problem));
	}

	/** What its user may not do though it may write is refused each time, until somebody allows it. */
	#warnForbidden(error: ReplyError): void {
		const {name = ''} = error.command ?? {};
		if (errorCodeOf(error) !== FORBIDDEN_CODE || !this.isUp || this.#forbidden.has(name)) return;
		this.#forbidden.add(name);
		const sentence = `The store does not allow its user ${name}, so what needs that is not shared.`;
		this.#log.warn('store.forbidden', sentence, {command: name});
	}

	/** `refusal` is what one says that is there, but of no use. */
	#setUp(isUp: boolean, refusal?: string): void {
		clearTimeout(this.#retryTimer);
		if (!isUp) this.#retryTimer = setTimeout(() => void this.#probe(), RETRY_INTERVAL_MS).unref();
		if (isUp === this.#isUp) return;
		const wasDown = this.#isUp === false;
		this.#isUp = isUp;
		this.upSince = isUp ? performance.now() : undefined;
		if (isUp) {
			this.#onUp();
			for (const {hear} of new Set(this.#subscribers.values())) hear('');
		}
		const problem = refusal === undefined ? 'cannot be reached' : `refuses what is asked of it (${refusal})`;
		if (!isUp)
			this.#log.warn('store.down', `The store ${problem}; this replica goes on with what it knows itself.`, {
				reason: refusal,
			});
		else if (wasDown) this.#log.warn('store.up', 'The store is back; what is kept is looked at anew.');
	}
}

const shortDigest = (hash: Hash | Hmac): string => hash.digest('base64url').slice(0, 32);

/** Why a store refuses something that it has understood, in the one word that it has for that. */
function errorCodeOf(error: unknown): string | undefined {
	return error instanceof Error ? /^[A-Z]{3,20}(?= )/.exec(error.message)?.[0] : undefined;
}
