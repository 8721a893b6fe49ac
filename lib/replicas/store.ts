import {createHash, createHmac, type Hash, type Hmac, hkdfSync} from 'node:crypto';
import {performance} from 'node:perf_hooks';
import {BoundedMap} from '../bounded-map.js';
import type {Log} from '../log.js';
import {type Connection, connectTo} from './redis.js';
import {Seal} from './seal.js';

const PURPOSE = 'store';
const PREFIX = 'bridge:';
const NEWS = `${PREFIX}news`;
/** Names that somebody wants to hear news of. The oldest is forgotten for the next. */
const MAX_LISTENERS = 20_000;
/** How often a store that did not answer in time is tried again. */
const TRY_MS = 1000;

type Hearer = {
	readonly names: () => readonly string[];
	readonly hear: (what: string) => void;
};

/** What Redis says about a command that it has understood. */
type ReplyError = Error & {readonly command?: {readonly name?: string}};
const FORBIDDEN = 'NOPERM';

/**
 * What replicas share, in Redis or whatever speaks like it. It holds names that nobody can guess and values that only
 * replicas can read.
 *
 * Nobody depends on it: while it is not there, or too slow, everything asked of it is answered with nothing, at once.
 */
export class Store {
	readonly #log: Log;
	#url: URL | undefined;
	#seal = new Seal([], PURPOSE);
	#nameKeys: readonly Buffer[] = [];
	readonly #hearers = new BoundedMap<string, Hearer>(MAX_LISTENERS);
	#commands: Connection | undefined;
	#news: Connection | undefined;
	#isUp: boolean | undefined;
	/** Since when it has been there without a break, by a clock that is never set. */
	upSince: number | undefined;
	#whenUp: () => void = () => {};
	#trial: NodeJS.Timeout | undefined;
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
	use(secrets: readonly string[]): void {
		this.#seal = new Seal(secrets, PURPOSE, Number.POSITIVE_INFINITY);
		this.#nameKeys = secrets.map(secret =>
			Buffer.from(hkdfSync('sha256', secret, '', 'bridge names in the store', 32)),
		);
		const hearers = new Set(this.#hearers.values());
		this.#hearers.clear();
		for (const hearer of hearers) this.#register(hearer);
	}

	/** Goes to where a store is. All that is known by others at the place before has to be written anew. */
	async open(url: URL): Promise<void> {
		this.close();
		this.#url = url;
		const [commands, news] = await Promise.all([connectTo(url), connectTo(url)]);
		if (this.#url !== url) {
			commands.disconnect();
			news.disconnect();
			return;
		}
		this.#commands = commands;
		this.#news = news;
		const gone = (): void => {
			if (this.#commands === commands) this.#becomes(false);
		};
		commands.on('error', () => {}).on('close', gone);
		news.on('error', () => {}).on('close', gone);
		commands.on('ready', () => void this.#try());
		news.on('ready', () => void this.#try());
		news.on('message', (_channel: string, message: string) => this.#heard(message));
	}

	/** The name for what belongs to these, which tells nobody what they are: one by each secret, the first to write under. */
	names(...parts: readonly string[]): readonly string[] {
		const text = JSON.stringify(parts);
		return this.#nameKeys.map(key => shortened(createHmac('sha256', key).update(text)));
	}

	/** A name for what belongs to these, of which one is long and random. It does not depend on the secrets. */
	nameOfRandom(...parts: readonly string[]): string {
		return shortened(createHash('sha256').update(JSON.stringify(parts)));
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
		const commands = this.#commands;
		if (!commands || !this.isUp) return;
		try {
			return await work(commands);
		} catch (error) {
			if (this.#commands !== commands) return;
			// Who was busy itself may have looked at the clock too late. If it does not answer now, it is not asked until it does.
			if (commands.status === 'ready')
				void this.#try().then(() => this.#tellOfForbidden(error as ReplyError));
			else this.#becomes(false);
			return;
		}
	}

	/** Tells all who share the store. */
	tell(name: string, what: string): void {
		void this.ask(redis => redis.publish(NEWS, `${name} ${what}`));
	}

	/** Hears what others tell under a name, and nothing when something may have been missed. What it returns ends that. */
	listen(name: string, hear: Hearer['hear']): () => void {
		return this.listenToAll(() => [name], hear);
	}

	/** The same, under names that are others when the secrets are. */
	listenToAll(names: Hearer['names'], hear: Hearer['hear']): () => void {
		const hearer = {names, hear};
		this.#register(hearer);
		return () => {
			for (const name of names()) if (this.#hearers.get(name) === hearer) this.#hearers.delete(name);
		};
	}

	#register(hearer: Hearer): void {
		for (const name of hearer.names()) this.#hearers.set(name, hearer);
	}

	/** Has this done whenever the store is there, the first time included. */
	whenUp(proceed: () => void): void {
		this.#whenUp = proceed;
		if (this.isUp) proceed();
	}

	/** There is no store any more. */
	close(): void {
		clearTimeout(this.#trial);
		const [commands, news] = [this.#commands, this.#news];
		this.#forbidden.clear();
		this.#url = undefined;
		this.#commands = undefined;
		this.#news = undefined;
		this.#isUp = undefined;
		this.upSince = undefined;
		commands?.disconnect();
		news?.disconnect();
	}

	#heard(message: string): void {
		const at = message.indexOf(' ');
		this.#hearers.get(message.slice(0, at))?.hear(message.slice(at + 1));
	}

	/** It is there when it can be written to, and what others tell is heard. One that is full, or a copy, can only be read. */
	async #try(): Promise<void> {
		clearTimeout(this.#trial);
		const [commands, news] = [this.#commands, this.#news];
		if (commands?.status !== 'ready' || news?.status !== 'ready') return;
		const written = commands.set(this.key('trial'), '', 'PX', TRY_MS);
		const problem = await Promise.all([written, news.subscribe(NEWS)]).then(
			() => undefined,
			(error: Error) => error,
		);
		if (this.#commands === commands) this.#becomes(!problem, refusalIn(problem));
	}

	/** What its user may not do though it may write is refused each time, until somebody allows it. */
	#tellOfForbidden(error: ReplyError): void {
		const {name = ''} = error.command ?? {};
		if (refusalIn(error) !== FORBIDDEN || !this.isUp || this.#forbidden.has(name)) return;
		this.#forbidden.add(name);
		const sentence = `The store does not allow its user ${name}, so what needs that is not shared.`;
		this.#log.warn('store.forbidden', sentence, {command: name});
	}

	/** `refusal` is what one says that is there, but of no use. */
	#becomes(isUp: boolean, refusal?: string): void {
		clearTimeout(this.#trial);
		if (!isUp) this.#trial = setTimeout(() => void this.#try(), TRY_MS).unref();
		if (isUp === this.#isUp) return;
		const wasDown = this.#isUp === false;
		this.#isUp = isUp;
		this.upSince = isUp ? performance.now() : undefined;
		if (isUp) {
			this.#whenUp();
			for (const {hear} of new Set(this.#hearers.values())) hear('');
		}
		const problem = refusal === undefined ? 'cannot be reached' : `refuses what is asked of it (${refusal})`;
		if (!isUp)
			this.#log.warn('store.down', `The store ${problem}; this replica goes on with what it knows itself.`, {
				reason: refusal,
			});
		else if (wasDown) this.#log.warn('store.up', 'The store is back; what is kept is looked at anew.');
	}
}

const shortened = (hash: Hash | Hmac): string => hash.digest('base64url').slice(0, 32);

/** Why a store refuses something that it has understood, in the one word that it has for that. */
function refusalIn(error: unknown): string | undefined {
	return error instanceof Error ? /^[A-Z]{3,20}(?= )/.exec(error.message)?.[0] : undefined;
}
