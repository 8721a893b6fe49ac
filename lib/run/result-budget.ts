import {ProgramError} from './program-error.js';

/** Bytes that the results of several calls may have together, since they are in memory at the same time. */
export class ResultBudget {
	readonly #limit: number;
	readonly #scope: string;
	#spent = 0;

	/** `owner` is the part of the program that the calls belong to. */
	constructor(limit: number, scope: string) {
		this.#limit = limit;
		this.#scope = scope;
	}

	/** Counts a result. Once they are over the limit, no further call is made. */
	spend(bytes: number): void {
		this.#spent += bytes;
		if (this.#spent > this.#limit)
			throw new ProgramError(
				'ToolError',
				`The results of ${this.#scope} have more than ${this.#limit} bytes. Make fewer calls in it.`,
			);
	}
}
