import {BridgeError} from '../../lib/errors.js';
import type {Stop} from '../common/signals.js';
import type {Options, Values} from './option.js';

/** The program itself, and when it is asked to end. */
export type Context = {
	/** The path of the running program. */
	readonly script: string;
	readonly version: string;
	readonly stop: Stop;
	readonly commands: Commands;
};

/** What was typed for one command. */
export type Input<O extends Options> = {
	/** Arguments that are not flags, without the name of the command. */
	readonly words: readonly string[];
	/** The command line after `--`; empty if the command takes none. */
	readonly server: readonly string[];
	readonly options: Values<O>;
};

/** A command of `bridge`. Its help, completions, errors and dispatch are generated from this table. */
export type Command<O extends Options = Options> = {
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
	readonly maxWords?: number;
	/** The values of its first word, for completion. */
	readonly firstWords?: readonly string[];
	/** Whether a command line may follow after `--`. */
	readonly takesServer?: boolean;
	/** What to do about an argument that it does not take. */
	readonly unexpected?: (word: string) => string;
	/** Runs it. Resolves to the exit code. */
	run(input: Input<O>, context: Context): Promise<number>;
};

/** What `bridge` without a command does. */
export type Mode = 'wrap' | 'url' | 'filter';

export type Listed = {
	/** The name of the command, or the mode. */
	readonly name: string;
	/** Its heading in the help; undefined for a mode. */
	readonly group: string | undefined;
	/** How errors name it: `bridge raw`. */
	readonly title: string;
	readonly command: Command;
};

/** All commands. Each is loaded when it is needed. */
export type Commands = {
	readonly names: readonly string[];
	/** Loads the command with a name; undefined if there is none. */
	find(name: string): Promise<Listed | undefined>;
	findMode(mode: Mode): Promise<Listed>;
	/** Loads all commands, modes first: for help, completions and errors. */
	all(): Promise<readonly Listed[]>;
};

/** Checks the types of a command. */
export const defineCommand = <O extends Options>(command: Command<O>): Command<O> => command;

/** An error that is shown together with the help of the command. */
export class NeedsHelp extends BridgeError {
	constructor(message: string, remedy = '') {
		super('ERR_CONFIG_INVALID', message, remedy);
	}
}
