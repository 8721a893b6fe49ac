import type {ServerResponse} from 'node:http';
import {pause} from '../pause.js';

const POLL_MS = 20;

/** The answers that are on their way to clients, of which there are as many as there are connections. */
export class Answers {
	readonly #open = new Set<ServerResponse>();

	add(response: ServerResponse): void {
		this.#open.add(response);
		response.once('close', () => this.#open.delete(response));
	}

	/** Resolves when clients have all that was said to its end. Streams that go on are not waited for. */
	async flushed(): Promise<void> {
		while ([...this.#open].some(response => response.writableEnded)) await pause(POLL_MS);
	}
}
