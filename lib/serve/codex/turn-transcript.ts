/** Limit on the stored text of a turn, in characters. */
const MAX_LENGTH = 2 ** 20;

/** The last message of the model in a turn, complete or partial. */
export class TurnTranscript {
	#message = '';
	#deltas = '';

	get text(): string {
		return this.#deltas === '' ? this.#message : this.#deltas;
	}

	appendDelta(text: string): void {
		if (this.#deltas.length < MAX_LENGTH) this.#deltas = (this.#deltas + text).slice(0, MAX_LENGTH);
	}

	/** Sets a complete message. It replaces the deltas received before. */
	setMessage(text: string): void {
		this.#message = text.slice(0, MAX_LENGTH);
		this.#deltas = '';
	}
}
