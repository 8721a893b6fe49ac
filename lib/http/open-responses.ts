import type {ServerResponse} from 'node:http';
import {SlotMap} from '../core/fast/slot-map.js';
import {pause} from '../util/pause.js';

const POLL_INTERVAL_MS = 20;

/** The answers that are on their way to clients, of which there are as many as there are connections. */
export class OpenResponses {
	readonly #open = new SlotMap<number, ServerResponse>();
	#count = 0;

	/** `closed` is called when there is no more to it. */
	add(response: ServerResponse, onClose: () => void = () => {}): void {
		const number = ++this.#count;
		this.#open.set(number, response);
		response.on('close', () => {
			this.#open.delete(number);
			onClose();
		});
	}

	/** Resolves when clients have all that was said to its end. Streams that go on are not waited for. */
	async flushed(): Promise<void> {
		while ([...this.#open.values()].some(response => response.writableEnded)) await pause(POLL_INTERVAL_MS);
	}
}
