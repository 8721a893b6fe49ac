import {bufferLimit, type EvictableBuffer} from '../core/buffer-limit.js';
import type {JsonObject} from '../util/json.js';
import {shortKey} from '../util/short-key.js';

const MAX_FORMS = 1000;
/** In characters of the names and options of these forms. The largest form uses a sixteenth of it. */
const MAX_LENGTH = 16 * 2 ** 20;

export type FormReader = (content: JsonObject) => JsonObject;

/**
 * The readers for responses to downgraded forms, by request id. When a limit is exceeded, the oldest reader
 * is evicted and its response is forwarded unchanged.
 */
export class FormResponses implements EvictableBuffer {
	readonly #forms = new Map<string, {readonly read: FormReader; readonly length: number}>();
	#length = 0;

	constructor() {
		bufferLimit.register(this);
	}

	get bufferedBytes(): number {
		return this.#length;
	}

	evict(): void {
		for (const key of this.#forms.keys()) this.#remove(key);
	}

	add(id: string, read: FormReader, length: number): void {
		this.take(id);
		this.#forms.set(shortKey(id), {read, length});
		this.#length += length;
		bufferLimit.added(length);
		for (const oldest of this.#forms.keys()) {
			if (this.#forms.size <= MAX_FORMS && this.#length <= MAX_LENGTH) return;
			this.#remove(oldest);
		}
	}

	/** Removes and returns the reader for the response to a form. */
	take(id: string): FormReader | undefined {
		return this.#remove(shortKey(id));
	}

	#remove(key: string): FormReader | undefined {
		const form = this.#forms.get(key);
		this.#forms.delete(key);
		this.#length -= form?.length ?? 0;
		return form?.read;
	}
}
