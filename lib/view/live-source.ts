import {Subject, type Subscription} from 'rxjs';
import {MatchesCache} from './filter-matches.js';
import {LogIndex} from './log-index.js';
import type {IndexedLog, TrafficSource} from './traffic-source.js';
import {TrafficSpool} from './traffic-spool.js';

/** Milliseconds that a recording is kept after the last viewer has left. */
const RETENTION_MS = 60_000;

type LiveSourceOptions = {
	readonly name: string;
	/** Subscribes to new lines of traffic. Returns a function that unsubscribes. */
	readonly subscribe: (listener: (line: Buffer) => void) => () => void;
	readonly worker?: URL | undefined;
	readonly onBug: (error: Error) => void;
	readonly retentionMs?: number;
	/** The maximum size of the recording. */
	readonly maxBytes?: number;
};

type LiveRecording = {
	readonly spool: TrafficSpool;
	readonly shown: IndexedLog;
	readonly subscription: Subscription;
};

/**
 * Live traffic. It is recorded while the page has viewers, and for a while afterwards. A full recording is
 * replaced by an empty one.
 */
export class LiveSource implements TrafficSource {
	readonly name: string;
	readonly isLive = true;
	generation = 0;
	note = '';
	readonly changed = new Subject<void>();
	readonly #options: LiveSourceOptions;
	#recording: LiveRecording | undefined;
	#unsubscribe: (() => void) | undefined;
	#viewerCount = 0;
	#timer: NodeJS.Timeout | undefined;

	constructor(options: LiveSourceOptions) {
		this.name = options.name;
		this.#options = options;
	}

	get indexedLog(): IndexedLog | undefined {
		return this.#recording?.shown;
	}

	addViewer(): () => void {
		this.#viewerCount++;
		clearTimeout(this.#timer);
		this.#start();
		let isRemoved = false;
		return () => {
			if (isRemoved) return;
			isRemoved = true;
			this.#viewerCount--;
			const {retentionMs = RETENTION_MS} = this.#options;
			if (this.#viewerCount === 0) this.#timer = setTimeout(() => void this.close(), retentionMs).unref();
		};
	}

	async close(): Promise<void> {
		clearTimeout(this.#timer);
		this.#unsubscribe?.();
		this.#unsubscribe = undefined;
		await this.#stopRecording();
	}

	/** Shows a note on the page. */
	setNote(note: string): void {
		this.note = note;
		this.changed.next();
	}

	#start(): void {
		if (this.#recording) return;
		this.#recording = this.#startRecording();
		this.#unsubscribe ??= this.#options.subscribe(line => {
			this.#recording?.spool.add(line);
			if (this.#recording?.spool.isFull) this.#restart();
		});
	}

	#restart(): void {
		void this.#stopRecording();
		this.#recording = this.#startRecording();
		this.changed.next();
	}

	#startRecording(): LiveRecording {
		const {worker, onBug, maxBytes} = this.#options;
		const spool: TrafficSpool = new TrafficSpool(() => index.notifyGrown(), maxBytes);
		const index = new LogIndex({fds: [spool.fd], worker, onBug});
		this.generation++;
		const subscription = index.changed.subscribe(() => this.changed.next());
		return {spool, shown: {index, matches: new MatchesCache(index)}, subscription};
	}

	async #stopRecording(): Promise<void> {
		const recording = this.#recording;
		this.#recording = undefined;
		recording?.subscription.unsubscribe();
		await recording?.shown.index.close();
		recording?.spool.close();
	}
}
