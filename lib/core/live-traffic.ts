import {isoTime, nowMicroseconds} from '../util/clock.js';
import type {MessageOrigin} from './envelope.js';

/** Where lines of traffic go: see TrafficLog. */
export type TrafficSink = {add(parts: readonly Buffer[], origin?: MessageOrigin): void};

/** The traffic as it passes, for whoever looks. Nobody waits for who looks, and nothing is kept for who does not. */
export class LiveTraffic implements TrafficSink {
	readonly #listeners = new Set<(line: Buffer) => void>();

	get hasListeners(): boolean {
		return this.#listeners.size > 0;
	}

	/** Gives each line from now on, without its line feed. Returns what ends that. */
	subscribe(listener: (line: Buffer) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	add(parts: readonly Buffer[]): void {
		if (!this.hasListeners) return;
		const line = Buffer.concat([Buffer.from(`{"time":"${isoTime(nowMicroseconds())}`), ...parts]);
		for (const listener of this.#listeners) listener(line.subarray(0, -1));
	}
}
