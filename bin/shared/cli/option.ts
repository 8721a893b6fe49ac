import {usageError} from '../flag-values.js';

/** The flags that were given on the command line. */
export type FlagValues = {
	/** The value of a flag; undefined if it was not given. A flag that was given twice is an error. */
	single(name: string): string | undefined;
	/** All values of a flag that may be repeated. */
	all(name: string): readonly string[];
	has(name: string): boolean;
};

/** A flag of a command. The key in {@link Options} is its name in camel case. */
export type Option<T = unknown> = {
	/** What the value is called in help texts. A flag without it takes no value. */
	readonly value?: string;
	/** Several lines are separated by line feeds. */
	readonly summary: string;
	/** All values, for help and completion. */
	readonly choices?: readonly string[];
	/** The value may be left out: the flag then reads as an empty text. */
	readonly isValueOptional?: boolean;
	/** What to do instead, in the error of commands that do not have this flag. */
	readonly alternative?: string;
	/** Understands what was given; `name` is the flag without dashes. */
	read(name: string, given: FlagValues): T;
};

export type Options = {readonly [name: string]: Option};

/** What the flags of a command are read as. */
export type OptionValues<O extends Options> = {
	readonly [Name in keyof O]: O[Name] extends Option<infer T> ? T : never;
};

/** The name of a flag, without dashes, from its key. */
export const flagName = (key: string): string => key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);

/** A flag without a value. */
export const booleanFlag = (summary: string, alternative?: string): Option<boolean> => ({
	summary,
	...(alternative === undefined ? {} : {alternative}),
	read: (name, flags) => flags.has(name),
});

/** A flag whose value is a text. */
export const textFlag = (value: string, summary: string): Option<string | undefined> => ({
	value,
	summary,
	read: (name, flags) => flags.single(name),
});

/** A flag whose value is one of a list. */
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

/** A flag whose value is parsed. `parse` gets the name of the flag for its errors. */
export const parsedFlag = <T>(
	value: string,
	summary: string,
	parse: (name: string, text: string | undefined) => T,
): Option<T> => ({value, summary, read: (name, flags) => parse(name, flags.single(name))});

/** Reads the value of a flag that has a list of values. */
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
