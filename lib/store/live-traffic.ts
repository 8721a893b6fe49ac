import type {Origin} from '../envelope.js';
import {isoTime, microseconds} from './clock.js';

/** Where lines of traffic go: see TrafficLog. */
export type TrafficSink = {add(parts: readonly Buffer[], origin?: Origin): void};

/** The traffic as it passes, for whoever looks. Nobody waits for who looks, and nothing is kept for who does not. */
export class LiveTraffic implements TrafficSink {
	readonly #listeners = new Set<(line: Buffer) => void>();

	get isHeard(): boolean {
		return this.#listeners.size > 0;
	}

	/** Gives each line from now on, without its line feed. Returns what ends that. */
	listen(hear: (line: Buffer) => void): () => void {
		this.#listeners.add(hear);
		return () => this.#listeners.delete(hear);
	}

	add(parts: readonly Buffer[]): void {
		if (!this.isHeard) return;
		const line = Buffer.concat([Buffer.from(`{"time":"${isoTime(microseconds())}`), ...parts]);
		for (const hear of this.#listeners) hear(line.subarray(0, -1));
	}
}
