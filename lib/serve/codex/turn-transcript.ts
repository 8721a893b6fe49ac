/** How much of what a model says in a turn is kept for who interrupts it, in characters. */
const MAX_LENGTH = 2 ** 20;

/** What a model has said in a turn so far: its last message, or as much of it as has come. */
export class TurnTranscript {
	#message = '';
	#deltas = '';

	get text(): string {
		return this.#deltas === '' ? this.#message : this.#deltas;
	}

	appendDelta(text: string): void {
		if (this.#deltas.length < MAX_LENGTH) this.#deltas = (this.#deltas + text).slice(0, MAX_LENGTH);
	}

	/** A whole message, the pieces of which came before if any did. */
	setMessage(text: string): void {
		this.#message = text.slice(0, MAX_LENGTH);
		this.#deltas = '';
	}
}
