/** How much of what a model says in a turn is kept for who interrupts it, in characters. */
const MAX_LENGTH = 2 ** 20;

/** What a model has said in a turn so far: its last message, or as much of it as has come. */
export class Speech {
	#message = '';
	#pieces = '';

	get text(): string {
		return this.#pieces === '' ? this.#message : this.#pieces;
	}

	piece(text: string): void {
		if (this.#pieces.length < MAX_LENGTH) this.#pieces = (this.#pieces + text).slice(0, MAX_LENGTH);
	}

	/** A whole message, the pieces of which came before if any did. */
	message(text: string): void {
		this.#message = text.slice(0, MAX_LENGTH);
		this.#pieces = '';
	}
}
