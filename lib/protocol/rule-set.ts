import type {Envelope} from '../core/envelope.js';
import {EVERY_MESSAGE} from '../wire/marks.js';
import type {TranslationRule} from './translation-rule.js';

/** The rules for one kind of message, with a quick check whether any of them can apply. */
export class RuleSet {
	readonly rules: readonly TranslationRule[];
	readonly #alwaysParses: boolean;
	readonly #marks: number;
	readonly #substrings: readonly string[];

	constructor(rules: readonly TranslationRule[]) {
		this.rules = rules;
		this.#alwaysParses = rules.some(({marks, substrings}) => marks === undefined && substrings === undefined);
		this.#marks = rules.reduce((all, {marks = 0}) => all | marks, 0);
		this.#substrings = rules.flatMap(({substrings = []}) => substrings);
	}

	/** The marks of messages that may change. If marks alone cannot decide that, the mark of every message. */
	get transformMarks(): number {
		return this.#alwaysParses || this.#substrings.length > 0 ? EVERY_MESSAGE : this.#marks;
	}

	/** Whether a message may change, judged without parsing it. */
	mayChange(envelope: Envelope): boolean {
		if (this.#alwaysParses || (envelope.head.marks & this.#marks) !== 0) return true;
		return this.#substrings.length > 0 && this.#substrings.some(text => envelope.line.includes(text));
	}
}
