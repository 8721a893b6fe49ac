import {BridgeError} from '../../../lib/core/errors.js';
import type {StopSignals} from '../stop-signals.js';
import type {Options, OptionValues} from './option.js';

/** The program itself, and when it is asked to end. */
export type CliContext = {
	/** The path of the running program. */
	readonly script: string;
	readonly version: string;
	readonly stop: StopSignals;
	readonly commands: CommandRegistry;
};

/** What was typed for one command. */
export type CommandInput<O extends Options> = {
	/** Arguments that are not flags, without the name of the command. */
	readonly positionals: readonly string[];
	/** The command line after `--`; empty if the command takes none. */
	readonly upstreamCommand: readonly string[];
	readonly options: OptionValues<O>;
};

/** A command of `bridge`. Its help, completions, errors and dispatch are generated from this table. */
export type CliCommand<O extends Options = Options> = {
	/** One line, without the name of the command. */
	readonly summary: string;
	/** Ways to call it, each with what it does. */
	readonly usage: ReadonlyArray<readonly [line: string, meaning?: string]>;
	/** Paragraphs for the help text. */
	readonly details?: string;
	readonly options: O;
	readonly examples: readonly string[];
	readonly exitCodes: string;
	/** How many words it takes [none]. */
	readonly maxPositionals?: number;
	/** The values of its first word, for completion. */
	readonly firstChoices?: readonly string[];
	/** Whether a command line may follow after `--`. */
	readonly takesUpstreamCommand?: boolean;
	/** What to do about an argument that it does not take. */
	readonly unexpectedRemedy?: (word: string) => string;
	/** Runs it. Resolves to the exit code. */
	run(input: CommandInput<O>, context: CliContext): Promise<number>;
};

/** What `bridge` without a command does. */
export type CommandMode = 'wrap' | 'url' | 'filter';

export type ListedCommand = {
	/** The name of the command, or the mode. */
	readonly name: string;
	/** Its heading in the help; undefined for a mode. */
	readonly group: string | undefined;
	/** How errors name it: `bridge raw`. */
	readonly title: string;
	readonly command: CliCommand;
};

/** All commands. Each is loaded when it is needed. */
export type CommandRegistry = {
	readonly names: readonly string[];
	/** Loads the command with a name; undefined if there is none. */
	find(name: string): Promise<ListedCommand | undefined>;
	findMode(mode: CommandMode): Promise<ListedCommand>;
	/** Loads all commands, modes first: for help, completions and errors. */
	all(): Promise<readonly ListedCommand[]>;
};

/** Checks the types of a command. */
export const defineCommand = <O extends Options>(command: CliCommand<O>): CliCommand<O> => command;

/** An error that is shown together with the help of the command. */
export class ErrorWithHelp extends BridgeError {
	constructor(message: string, remedy = '') {
		super('ERR_CONFIG_INVALID', message, remedy);
	}
}
