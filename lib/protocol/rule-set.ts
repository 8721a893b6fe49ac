import type {Envelope} from '../core/envelope.js';
import {EVERY_MESSAGE} from '../wire/marks.js';
import type {TranslationRule} from './translation-rule.js';

/** The rules for one kind of message, and what tells beforehand that none of them applies. */
export class RuleSet {
	readonly rules: readonly TranslationRule[];
	/** Whether every message has to be parsed. */
	readonly #alwaysParses: boolean;
	readonly #marks: number;
	readonly #substrings: readonly string[];

	constructor(rules: readonly TranslationRule[]) {
		this.rules = rules;
		this.#alwaysParses = rules.some(
			({marks, substrings: words}) => marks === undefined && words === undefined,
		);
		this.#marks = rules.reduce((all, {marks = 0}) => all | marks, 0);
		this.#substrings = rules.flatMap(({substrings: words = []}) => words);
	}

	/** The marks of messages that may change; that of every message, if it cannot be told so. */
	get transformMarks(): number {
		return this.#alwaysParses || this.#substrings.length > 0 ? EVERY_MESSAGE : this.#marks;
	}

	/** Whether a message may change, by what is known of it before it is parsed. */
	mayChange(envelope: Envelope): boolean {
		if (this.#alwaysParses || (envelope.head.marks & this.#marks) !== 0) return true;
		return this.#substrings.length > 0 && this.#substrings.some(word => envelope.line.includes(word));
	}
}
