import type {ServerResponse} from 'node:http';
import {SlotMap} from '../core/fast/slot-map.js';
import {pause} from '../util/pause.js';

const POLL_INTERVAL_MS = 20;

/** The open responses. The number of connections bounds them. */
export class OpenResponses {
	readonly #open = new SlotMap<number, ServerResponse>();
	#count = 0;

	add(response: ServerResponse, onClose: () => void = () => {}): void {
		const number = ++this.#count;
		this.#open.set(number, response);
		response.on('close', () => {
			this.#open.delete(number);
			onClose();
		});
	}

	/** Resolves when all responses that have ended are sent completely. Open streams are not waited for. */
	async flushed(): Promise<void> {
		while ([...this.#open.values()].some(response => response.writableEnded)) await pause(POLL_INTERVAL_MS);
	}
}
