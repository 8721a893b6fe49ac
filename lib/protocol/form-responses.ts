import {bufferLimit, type EvictableBuffer} from '../core/buffer-limit.js';
import type {JsonObject} from '../util/json.js';
import {shortKey} from '../util/short-key.js';

/** Forms without a response yet. */
const MAX_FORMS = 1000;
/** Characters of the names and options of these forms. The largest form has a sixteenth of it. */
const MAX_LENGTH = 16 * 2 ** 20;

/** Reads the response to a form. */
export type FormReader = (content: JsonObject) => JsonObject;

/**
 * How to read the responses to forms that were shown as others, by the id of the request. When there are too many, the
 * oldest is evicted: its response is forwarded as the client sent it.
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

	/** How to read the response to a form, once. */
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
