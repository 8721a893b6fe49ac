import {ProgramError} from './program-error.js';

/** A byte budget for the results of several calls, which are in memory at the same time. */
export class ResultBudget {
	readonly #limit: number;
	readonly #scope: string;
	#spent = 0;

	/** `scope` names the part of the program that makes the calls, for the error message. */
	constructor(limit: number, scope: string) {
		this.#limit = limit;
		this.#scope = scope;
	}

	/**
	 * Counts a result. Throws if the total exceeds the limit, also for 0 bytes, which prevents further calls.
	 */
	spend(bytes: number): void {
		this.#spent += bytes;
		if (this.#spent > this.#limit)
			throw new ProgramError(
				'ToolError',
				`The results of ${this.#scope} exceed ${this.#limit} bytes. Make fewer calls in it.`,
			);
	}
}
