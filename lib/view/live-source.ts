import {Subject, type Subscription} from 'rxjs';
import {LogIndex} from './log-index.js';
import {AllMatches} from './matches.js';
import type {Shown, Source} from './source.js';
import {Spool} from './spool.js';

/** How long what was seen is kept for who comes back. */
const KEPT_MS = 60_000;

export type LiveSourceOptions = {
	readonly name: string;
	/** Gives each line of the traffic from now on. Returns what ends that. */
	readonly listen: (hear: (line: Buffer) => void) => () => void;
	readonly worker?: URL | undefined;
	readonly onBug: (error: Error) => void;
	readonly keptMs?: number;
	/** How much of the traffic is kept. */
	readonly maxBytes?: number;
};

type Recording = {readonly spool: Spool; readonly shown: Shown; readonly subscription: Subscription};

/**
 * Traffic as it passes: recorded as long as somebody looks, and for a while after. When there is more than is kept, it begins
 * anew.
 */
export class LiveSource implements Source {
	readonly name: string;
	readonly isLive = true;
	generation = 0;
	note = '';
	readonly changed = new Subject<void>();
	readonly #options: LiveSourceOptions;
	#recording: Recording | undefined;
	#stop: (() => void) | undefined;
	#watchers = 0;
	#timer: NodeJS.Timeout | undefined;

	constructor(options: LiveSourceOptions) {
		this.name = options.name;
		this.#options = options;
	}

	get shown(): Shown | undefined {
		return this.#recording?.shown;
	}

	watch(): () => void {
		this.#watchers++;
		clearTimeout(this.#timer);
		this.#begin();
		let isGone = false;
		return () => {
			if (isGone) return;
			isGone = true;
			this.#watchers--;
			const {keptMs = KEPT_MS} = this.#options;
			if (this.#watchers === 0) this.#timer = setTimeout(() => void this.close(), keptMs).unref();
		};
	}

	async close(): Promise<void> {
		clearTimeout(this.#timer);
		this.#stop?.();
		this.#stop = undefined;
		await this.#drop();
	}

	/** Tells who looks something. */
	tell(note: string): void {
		this.note = note;
		this.changed.next();
	}

	#begin(): void {
		if (this.#recording) return;
		this.#recording = this.#record();
		this.#stop ??= this.#options.listen(line => {
			this.#recording?.spool.add(line);
			if (this.#recording?.spool.isFull) this.#beginAnew();
		});
	}

	#beginAnew(): void {
		void this.#drop();
		this.#recording = this.#record();
		this.changed.next();
	}

	#record(): Recording {
		const {worker, onBug, maxBytes} = this.#options;
		const spool: Spool = new Spool(() => index.grown(), maxBytes);
		const index = new LogIndex({fds: [spool.fd], worker, onBug});
		this.generation++;
		const subscription = index.changed.subscribe(() => this.changed.next());
		return {spool, shown: {index, matches: new AllMatches(index)}, subscription};
	}

	async #drop(): Promise<void> {
		const recording = this.#recording;
		this.#recording = undefined;
		recording?.subscription.unsubscribe();
		await recording?.shown.index.close();
		recording?.spool.close();
	}
}
