import {createHmac, hkdfSync} from 'node:crypto';
import {performance} from 'node:perf_hooks';
import {BoundedMap} from '../bounded-map.js';
import type {Log} from '../log.js';
import {type Connection, connectTo} from './redis.js';
import {Seal} from './seal.js';

export type StoreOptions = {
	readonly url: URL;
	readonly secrets: readonly string[];
	readonly log: Log;
};

const PREFIX = 'bridge:';
const NEWS = `${PREFIX}news`;
/** Names that somebody wants to hear news of. The oldest is forgotten for the next. */
const MAX_LISTENERS = 20_000;
/** How often a store that did not answer in time is tried again. */
const TRY_MS = 1000;

type Hear = (what: string) => void;

/**
 * What replicas share, in Redis or whatever speaks like it. It holds names that nobody can guess and values that only
 * replicas can read.
 *
 * Nobody depends on it: while it is not there, or too slow, everything asked of it is answered with nothing, at once.
 */
export class Store {
	readonly #options: StoreOptions;
	readonly #seal: Seal;
	readonly #nameKey: Buffer;
	readonly #hearers = new BoundedMap<string, Hear>(MAX_LISTENERS);
	#commands: Connection | undefined;
	#news: Connection | undefined;
	#isUp: boolean | undefined;
	/** Since when it has been there without a break, by a clock that is never set. */
	upSince: number | undefined;
	#whenUp: () => void = () => {};
	#trial: NodeJS.Timeout | undefined;
	#isClosed = false;

	constructor(options: StoreOptions) {
		this.#options = options;
		const [secret = ''] = options.secrets;
		this.#seal = new Seal(options.secrets, 'store', Number.POSITIVE_INFINITY);
		this.#nameKey = Buffer.from(hkdfSync('sha256', secret, '', 'bridge names in the store', 32));
	}

	get isUp(): boolean {
		return this.#isUp === true;
	}

	async open(): Promise<void> {
		const {url} = this.#options;
		const [commands, news] = await Promise.all([connectTo(url), connectTo(url)]);
		this.#commands = commands;
		this.#news = news;
		commands.on('error', () => {}).on('close', () => this.#becomes(false));
		news.on('error', () => {}).on('close', () => this.#becomes(false));
		commands.on('ready', () => void this.#try());
		news.on(
			'ready',
			() =>
				void news.subscribe(NEWS).then(
					() => this.#try(),
					() => {},
				),
		);
		news.on('message', (_channel: string, message: string) => this.#heard(message));
	}

	/** A name for what belongs to these, which tells nobody what they are. */
	name(...parts: readonly string[]): string {
		return createHmac('sha256', this.#nameKey).update(JSON.stringify(parts)).digest('base64url').slice(0, 32);
	}

	key(kind: string, name?: string): string {
		return name === undefined ? `${PREFIX}${kind}` : `${PREFIX}${kind}:${name}`;
	}

	seal(value: string, key: string): string {
		return this.#seal.close(value, key);
	}

	unseal(value: string, key: string): string | undefined {
		return this.#seal.open(value, key);
	}

	/** Asks something of the store. Resolves to undefined when it cannot be had. */
	async ask<T>(work: (redis: Connection) => Promise<T>): Promise<T | undefined> {
		if (!this.#commands || !this.isUp) return;
		try {
			return await work(this.#commands);
		} catch {
			// Who was busy itself may have looked at the clock too late. If it does not answer now, it is not asked until it does.
			if (this.#commands.status === 'ready') void this.#try();
			else this.#becomes(false);
			return;
		}
	}

	/** Tells all who share the store. */
	tell(name: string, what: string): void {
		void this.ask(redis => redis.publish(NEWS, `${name} ${what}`));
	}

	/** Hears what others tell under a name, and nothing when something may have been missed. What it returns ends that. */
	listen(name: string, hear: Hear): () => void {
		this.#hearers.set(name, hear);
		return () => {
			if (this.#hearers.get(name) === hear) this.#hearers.delete(name);
		};
	}

	/** Has this done whenever the store is there, the first time included. */
	whenUp(proceed: () => void): void {
		this.#whenUp = proceed;
		if (this.isUp) proceed();
	}

	close(): void {
		this.#isClosed = true;
		clearTimeout(this.#trial);
		this.#commands?.disconnect();
		this.#news?.disconnect();
	}

	#heard(message: string): void {
		const at = message.indexOf(' ');
		this.#hearers.get(message.slice(0, at))?.(message.slice(at + 1));
	}

	/** It is there when it answers, and what others tell is heard. */
	async #try(): Promise<void> {
		clearTimeout(this.#trial);
		if (this.#isClosed || !this.#commands || this.#news?.status !== 'ready') return;
		try {
			await this.#commands.ping();
			this.#becomes(true);
		} catch {
			this.#becomes(false);
		}
	}

	#becomes(isUp: boolean): void {
		if (this.#isClosed) return;
		clearTimeout(this.#trial);
		if (!isUp) this.#trial = setTimeout(() => void this.#try(), TRY_MS).unref();
		if (isUp === this.#isUp) return;
		const wasDown = this.#isUp === false;
		this.#isUp = isUp;
		this.upSince = isUp ? performance.now() : undefined;
		if (isUp) this.#whenUp();
		const {log} = this.#options;
		if (!isUp)
			log.warn('store.down', 'The store cannot be reached; this replica goes on with what it knows itself.');
		else if (wasDown) {
			log.warn('store.up', 'The store is back; what is kept is looked at anew.');
			for (const hear of this.#hearers.values()) hear('');
		}
	}
}
