import type {ServerResponse} from 'node:http';
import {pause} from '../pause.js';

const POLL_MS = 20;

/** The answers that are on their way to clients, of which there are as many as there are connections. */
export class Answers {
	readonly #open = new Set<ServerResponse>();

	/** `closed` is called when there is no more to it. */
	add(response: ServerResponse, closed: () => void = () => {}): void {
		this.#open.add(response);
		response.on('close', () => {
			this.#open.delete(response);
			closed();
		});
	}

	/** Resolves when clients have all that was said to its end. Streams that go on are not waited for. */
	async flushed(): Promise<void> {
		while ([...this.#open].some(response => response.writableEnded)) await pause(POLL_MS);
	}
}
