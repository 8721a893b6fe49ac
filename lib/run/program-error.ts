/** What goes wrong in a program, under the name that Python has for it. */
export class ProgramError extends Error {
	/** The same as its type, so that logs have it. */
	override readonly name: string;
	/** The class that a program would name in `except`, or what to call an end that no program can catch. */
	readonly type: string;
	/** Where in the program, as far as that is known. */
	readonly line: number | undefined;

	constructor(type: string, message: string, line?: number) {
		super(truncateMessage(message));
		this.name = type;
		this.type = type;
		this.line = line;
	}
}

/** Why a run is over, whatever its program is at. No program can catch it. */
export class RunEndedError extends ProgramError {}

const MAX_LENGTH = 2000;

/** A message that a reader can take in. What servers and programs say can be of any length. */
export const truncateMessage = (message: string): string =>
	message.length <= MAX_LENGTH
		? message
		: `${message.slice(0, MAX_LENGTH)}… (${message.length - MAX_LENGTH} more characters)`;

/** What to say of a failure that some other code threw. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
