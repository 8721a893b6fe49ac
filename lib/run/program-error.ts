/** An error of a program, with its Python type name. */
export class ProgramError extends Error {
	/** Equal to `type`, for logs. */
	override readonly name: string;
	/** The Python class that a program would catch, or a name for an error that programs cannot catch. */
	readonly type: string;
	/** The line in the program, if known. */
	readonly line: number | undefined;

	constructor(type: string, message: string, line?: number) {
		super(truncateMessage(message));
		this.name = type;
		this.type = type;
		this.line = line;
	}
}

/** The reason why a run ended. Programs cannot catch it. */
export class RunEndedError extends ProgramError {}

const MAX_LENGTH = 2000;

/** Truncates a message. Messages of servers and programs have any length. */
export const truncateMessage = (message: string): string =>
	message.length <= MAX_LENGTH
		? message
		: `${message.slice(0, MAX_LENGTH)}… (${message.length - MAX_LENGTH} more characters)`;

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
