import {usageError} from '../flag-values.js';

/** The flags on the command line. */
export type FlagValues = {
	/** Returns the value of a flag, or undefined if it is not set. Throws if the flag is repeated. */
	single(name: string): string | undefined;
	/** Returns all values of a repeatable flag. */
	all(name: string): readonly string[];
	has(name: string): boolean;
};

/** A flag of a command. The key in {@link Options} is its name in camel case. */
export type Option<T = unknown> = {
	/** The placeholder of the value in help texts. A flag without it takes no value. */
	readonly value?: string;
	/** One or more lines, separated by line feeds. */
	readonly summary: string;
	/** All valid values, for help and completion. */
	readonly choices?: readonly string[];
	/** Whether the value is optional. Without it, the flag reads as an empty string. */
	readonly isValueOptional?: boolean;
	/** The remedy in errors of commands that do not have this flag. */
	readonly alternative?: string;
	/** Parses the value; `name` is the flag without dashes. */
	read(name: string, input: FlagValues): T;
};

export type Options = {readonly [name: string]: Option};

/** The parsed values of a command's flags. */
export type OptionValues<O extends Options> = {
	readonly [Name in keyof O]: O[Name] extends Option<infer T> ? T : never;
};

/** Converts a key to the name of its flag without dashes. */
export const flagName = (key: string): string => key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);

export const booleanFlag = (summary: string, alternative?: string): Option<boolean> => ({
	summary,
	...(alternative === undefined ? {} : {alternative}),
	read: (name, flags) => flags.has(name),
});

export const textFlag = (value: string, summary: string): Option<string | undefined> => ({
	value,
	summary,
	read: (name, flags) => flags.single(name),
});

export const choiceFlag = <const T extends string>(
	value: string,
	choices: readonly T[],
	summary: string,
): Option<T | undefined> => ({
	value,
	summary,
	choices,
	read: (name, flags) => readChoice(name, flags, choices),
});

/** A flag whose value is parsed. `parse` receives the name of the flag for its errors. */
export const parsedFlag = <T>(
	value: string,
	summary: string,
	parse: (name: string, text: string | undefined) => T,
): Option<T> => ({value, summary, read: (name, flags) => parse(name, flags.single(name))});

/** Reads the value of a flag with a fixed list of values. */
export function readChoice<const T extends string>(
	name: string,
	flags: FlagValues,
	choices: readonly T[],
): T | undefined {
	const value = flags.single(name);
	const found = choices.find(choice => choice === value);
	if (value !== undefined && found === undefined)
		throw usageError(`Unknown value "${value}" for --${name}.`, `Use one of ${choices.join(', ')}.`);
	return found;
}
