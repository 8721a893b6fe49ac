import {parseArgs} from 'node:util';
import type {BridgeError} from '../../../lib/core/errors.js';
import {closestWord, didYouMean} from '../../../lib/util/did-you-mean.js';
import {shellQuote} from '../../../lib/util/shell-quote.js';
import {usageError} from '../flag-values.js';
import type {CommandInput, ListedCommand} from './command.js';
import {type FlagValues, flagName, type Options, type OptionValues} from './option.js';
import {commonOptions, globalOptions} from './options.js';

/** Splits the arguments of bridge from those after `--`. */
export function splitAtDoubleDash(
	argv: readonly string[],
): readonly [own: readonly string[], server: readonly string[] | undefined] {
	const at = argv.indexOf('--');
	return at === -1 ? [argv, undefined] : [argv.slice(0, at), argv.slice(at + 1)];
}

/** A flag or another argument on the command line. */
type ArgumentToken = {readonly index: number; readonly name?: string; readonly value?: string | undefined};

/** Returns the index of the command name: the first argument that is not a flag or a flag's value. */
export const commandIndex = (bridgeArgs: readonly string[]): number | undefined =>
	tokenize(bridgeArgs, globalOptions).find(({name}) => name === undefined)?.index;

/** Returns the flags in the arguments of a command, with their values. */
export const flagsIn = (bridgeArgs: readonly string[], options: Options): ReadonlyMap<string, string> =>
	new Map(
		tokenize(bridgeArgs, {...globalOptions, ...options}).flatMap(({name, value = ''}) =>
			name === undefined ? [] : [[name, value] as const],
		),
	);

/** Returns whether the arguments contain a flag that is not valid before a command name. */
export const hasUnknownFlag = (bridgeArgs: readonly string[]): boolean =>
	tokenize(bridgeArgs, globalOptions).some(({name, index}) => {
		const isKnown = Object.keys(globalOptions).some(key => flagName(key) === name);
		return name !== undefined && !(isKnown && bridgeArgs[index]?.startsWith('--'));
	});

/** The commands that accept a flag, for errors. */
export type FlagOwners = {
	/** The titles of these commands. */
	readonly owners: readonly string[];
	readonly alternative: string | undefined;
	/** The flags of all commands. */
	readonly allFlags: readonly string[];
};

type ParseInput = {
	/** The arguments of bridge, and the index of the command name in them. */
	readonly bridgeArgs: readonly string[];
	readonly nameIndex: number | undefined;
	readonly upstreamCommand: readonly string[] | undefined;
	readonly owners: (flag: string) => Promise<FlagOwners>;
};

/** Parses and validates the arguments of a command. */
export async function parseCommandLine(
	listed: ListedCommand,
	{bridgeArgs, nameIndex, upstreamCommand: server, owners}: ParseInput,
): Promise<CommandInput<Options>> {
	const {title, command} = listed;
	const options: Options = {...commonOptions, ...command.options};
	const tokens = tokenize(bridgeArgs, options);
	const positionalIndexes = tokens
		.filter(({name, index}) => name === undefined && index !== nameIndex)
		.map(({index}) => index);
	const extraIndex = positionalIndexes[command.maxPositionals ?? 0];
	// Flags after an unexpected argument may belong to a server command, so they are not checked.
	for (const word of tokens)
		if (word.index < (extraIndex ?? bridgeArgs.length))
			await checkFlag(word, bridgeArgs, {listed, options, owners});
	const positionals = positionalIndexes.map(index => bridgeArgs[index] ?? '');
	const extra = server && !command.takesUpstreamCommand ? (server[0] ?? '--') : undefined;
	const unexpected = extraIndex === undefined ? extra : bridgeArgs[extraIndex];
	if (unexpected !== undefined) {
		const before = bridgeArgs.slice(0, extraIndex).filter((_, index) => index !== nameIndex);
		const wrap = [
			title,
			...before.map(shellQuote),
			'--',
			...bridgeArgs.slice(extraIndex).map(shellQuote),
		].join(' ');
		throw unexpectedArgumentError(
			listed,
			unexpected,
			command.takesUpstreamCommand && !server ? wrap : undefined,
		);
	}
	return {positionals, upstreamCommand: server ?? [], options: valuesOf(command.options, tokens)};
}

/** `wrap` is the command line to suggest if the argument is a server command. */
function unexpectedArgumentError(listed: ListedCommand, word: string, wrap: string | undefined): BridgeError {
	const {title, command} = listed;
	const server = wrap === undefined ? '' : `To run a server, write: ${wrap}`;
	const remedy = [command.unexpectedRemedy?.(word) ?? '', server].join(' ').trim();
	return usageError(`Unexpected argument "${word}" for ${title}.`, remedy || `See ${helpCommand(listed)}.`);
}

const helpCommand = ({group, title}: ListedCommand): string =>
	group === undefined ? 'bridge --help' : `${title} --help`;

function valuesOf(options: Options, words: readonly ArgumentToken[]): OptionValues<Options> {
	const flags: FlagValues = {
		all: name => words.flatMap(word => (word.name === name ? (word.value ?? '') : [])),
		has: name => words.some(word => word.name === name),
		single(name) {
			const values = flags.all(name);
			if (values.length > 1) throw usageError(`--${name} is set ${values.length} times.`, 'Set it once.');
			return values[0];
		},
	};
	const read = Object.entries(options).map(([key, option]) => [key, option.read(flagName(key), flags)]);
	return Object.fromEntries(read);
}

/** Splits arguments into flags with their values, and other words. */
function tokenize(bridgeArgs: readonly string[], options: Options): ArgumentToken[] {
	const optionsByFlag = new Map(Object.entries(options).map(([key, option]) => [flagName(key), option]));
	// parseArgs treats a flag with an optional value as boolean, so its value is a separate token.
	const config = [...optionsByFlag].map(([name, {value, isValueOptional}]) => {
		const short = name === 'help' || name === 'version' ? {short: name.slice(0, 1)} : {};
		return [name, {type: value === undefined || isValueOptional ? 'boolean' : 'string', ...short}] as const;
	});
	const {tokens} = parseArgs({
		args: [...bridgeArgs],
		options: Object.fromEntries(config),
		strict: false,
		allowPositionals: true,
		tokens: true,
	});
	const words: ArgumentToken[] = [];
	for (const token of tokens) {
		const last = words.at(-1);
		if (token.kind === 'option') words.push({index: token.index, name: token.name, value: token.value});
		else if (
			last?.name !== undefined &&
			last.value === undefined &&
			optionsByFlag.get(last.name)?.isValueOptional
		)
			words[words.length - 1] = {...last, value: bridgeArgs[token.index]};
		else words.push({index: token.index});
	}
	return words;
}

type ParseContext = {
	readonly listed: ListedCommand;
	readonly options: Options;
	readonly owners: ParseInput['owners'];
};

/** Rejects an unknown flag, a missing value, and a value of a flag that takes none. */
async function checkFlag(
	{index, name, value}: ArgumentToken,
	bridgeArgs: readonly string[],
	context: ParseContext,
): Promise<void> {
	if (name === undefined) return;
	const [word = ''] = (bridgeArgs[index] ?? '').split('=', 1);
	const isLong = word === `--${name}`;
	const option = Object.entries(context.options).find(([key]) => flagName(key) === name)?.[1];
	if (!option || (!isLong && word !== '-h' && word !== '-v')) throw await unknownFlagError(word, context);
	if (option.value === undefined) {
		if (value !== undefined) throw usageError(`${word} takes no value.`, `Write ${word} alone.`);
	} else if (!option.isValueOptional && isMissing(value, bridgeArgs[index] ?? ''))
		throw usageError(`${word} needs a value.`, `Write ${word} ${option.value}.`);
}

/** Returns whether a value is missing. A following flag is not a value. */
const isMissing = (value: string | undefined, word: string): boolean =>
	value === undefined || value === '' || (value.startsWith('--') && !word.includes('='));

async function unknownFlagError(word: string, {listed, options, owners}: ParseContext): Promise<BridgeError> {
	const name = word.replace(/^-+/, '');
	const {owners: others, alternative, allFlags} = await owners(name);
	if (others.length > 0 && word === `--${name}`)
		return usageError(
			`${word} is not valid for ${listed.title}.`,
			alternative ?? `It is a flag of ${others.join(', ')}.`,
		);
	// Short names resemble too many other words for a suggestion.
	const isShort = name.length < 3;
	const guess = isShort ? '' : didYouMean(name, Object.keys(options).map(flagName), '--');
	const other = isShort || guess ? undefined : closestWord(name, allFlags);
	if (other !== undefined) {
		const remedy = `Did you mean --${other}? It is a flag of ${(await owners(other)).owners.join(', ')}.`;
		return usageError(`Unknown flag ${word}.`, remedy);
	}
	return usageError(`Unknown flag ${word}.`, `${guess} See ${helpCommand(listed)}.`.trim());
}
