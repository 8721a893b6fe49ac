import {ProgramError} from './program-error.js';

/** Bytes that the results of several calls may have together, since they are in memory at the same time. */
export class ResultBudget {
	readonly #limit: number;
	readonly #owner: string;
	#spent = 0;

	/** `owner` is the part of the program that the calls belong to. */
	constructor(limit: number, owner: string) {
		this.#limit = limit;
		this.#owner = owner;
	}

	/** Counts a result. Once they are over the limit, no further call is made. */
	spend(bytes: number): void {
		this.#spent += bytes;
		if (this.#spent > this.#limit)
			throw new ProgramError(
				'ToolError',
				`The results of ${this.#owner} have more than ${this.#limit} bytes. Make fewer calls in it.`,
			);
	}
}
