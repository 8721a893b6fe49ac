import type {Envelope} from '../envelope.js';
import {EVERY_MESSAGE} from '../wire/marks.js';
import type {Rule} from './step.js';

/** The rules for one kind of message, and what tells beforehand that none of them applies. */
export class Plan {
	readonly rules: readonly Rule[];
	/** Whether every message has to be parsed. */
	readonly #isAlways: boolean;
	readonly #marks: number;
	readonly #words: readonly string[];

	constructor(rules: readonly Rule[]) {
		this.rules = rules;
		this.#isAlways = rules.some(({marks, words}) => marks === undefined && words === undefined);
		this.#marks = rules.reduce((all, {marks = 0}) => all | marks, 0);
		this.#words = rules.flatMap(({words = []}) => words);
	}

	/** The marks of messages that may change; that of every message, if it cannot be told so. */
	get touching(): number {
		return this.#isAlways || this.#words.length > 0 ? EVERY_MESSAGE : this.#marks;
	}

	/** Whether a message may change, by what is known of it before it is parsed. */
	mayChange(envelope: Envelope): boolean {
		if (this.#isAlways || (envelope.head.marks & this.#marks) !== 0) return true;
		return this.#words.length > 0 && this.#words.some(word => envelope.line.includes(word));
	}
}
