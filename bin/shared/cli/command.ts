import {BridgeError} from '../../../lib/core/errors.js';
import type {StopSignals} from '../stop-signals.js';
import type {Options, OptionValues} from './option.js';

export type CliContext = {
	/** The path of the script that is running. */
	readonly script: string;
	readonly version: string;
	readonly stop: StopSignals;
	readonly commands: CommandRegistry;
};

/** The parsed command line of a command. */
export type CommandInput<O extends Options> = {
	/** The arguments that are not flags, without the command name. */
	readonly positionals: readonly string[];
	/** The arguments after `--`; empty if the command takes none. */
	readonly upstreamCommand: readonly string[];
	readonly options: OptionValues<O>;
};

/** A command of `bridge`. Help, completions, errors and dispatch are generated from this table. */
export type CliCommand<O extends Options = Options> = {
	/** One line, without the command name. */
	readonly summary: string;
	/** Usage lines, each with an optional explanation. */
	readonly usage: ReadonlyArray<readonly [line: string, meaning?: string]>;
	/** Paragraphs for the help text. */
	readonly details?: string;
	readonly options: O;
	readonly examples: readonly string[];
	readonly exitCodes: string;
	/** The maximum number of positional arguments. Default: 0. */
	readonly maxPositionals?: number;
	/** The choices of the first positional argument, for completion. */
	readonly firstChoices?: readonly string[];
	/** Whether a command line may follow after `--`. */
	readonly takesUpstreamCommand?: boolean;
	/** Returns the remedy for an unexpected argument. */
	readonly unexpectedRemedy?: (word: string) => string;
	/** Runs the command. Resolves to the exit code. */
	run(input: CommandInput<O>, context: CliContext): Promise<number>;
};

/** The modes of `bridge` without a command name. */
export type CommandMode = 'wrap' | 'url' | 'filter';

export type ListedCommand = {
	/** The name of the command or mode. */
	readonly name: string;
	/** The heading in the help; undefined for a mode. */
	readonly group: string | undefined;
	/** The name in error messages: `bridge raw`. */
	readonly title: string;
	readonly command: CliCommand;
};

/** All commands. Each is loaded on demand. */
export type CommandRegistry = {
	readonly names: readonly string[];
	/** Loads a command by name; undefined if it does not exist. */
	find(name: string): Promise<ListedCommand | undefined>;
	findMode(mode: CommandMode): Promise<ListedCommand>;
	/** Loads all commands for help, completions and errors, modes first. */
	all(): Promise<readonly ListedCommand[]>;
};

/** Checks the types of a command. */
export const defineCommand = <O extends Options>(command: CliCommand<O>): CliCommand<O> => command;

/** An error that is printed together with the help of the command. */
export class ErrorWithHelp extends BridgeError {
	constructor(message: string, remedy = '') {
		super('ERR_CONFIG_INVALID', message, remedy);
	}
}
