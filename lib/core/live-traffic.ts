import {isoTime, nowMicroseconds} from '../util/clock.js';
import type {MessageOrigin} from './envelope.js';

/** A destination for lines of traffic: see TrafficLog. */
export type TrafficSink = {add(parts: readonly Buffer[], origin?: MessageOrigin): void};

/** Broadcasts traffic to current listeners. It applies no backpressure and stores nothing. */
export class LiveTraffic implements TrafficSink {
	readonly #listeners = new Set<(line: Buffer) => void>();

	get hasListeners(): boolean {
		return this.#listeners.size > 0;
	}

	/** Calls `listener` with each new line, without its line feed. Returns the unsubscribe function. */
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
