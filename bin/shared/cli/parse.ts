import {parseArgs} from 'node:util';
import type {BridgeError} from '../../../lib/core/errors.js';
import {closestWord, didYouMean} from '../../../lib/util/did-you-mean.js';
import {shellQuote} from '../../../lib/util/shell-quote.js';
import {usageError} from '../flag-values.js';
import type {CommandInput, ListedCommand} from './command.js';
import {type FlagValues, flagName, type Options, type OptionValues} from './option.js';
import {commonOptions, globalOptions} from './options.js';

/** The arguments of bridge, and the command line after `--`, if there is one. */
export function splitAtDoubleDash(
	argv: readonly string[],
): readonly [own: readonly string[], server: readonly string[] | undefined] {
	const at = argv.indexOf('--');
	return at === -1 ? [argv, undefined] : [argv.slice(0, at), argv.slice(at + 1)];
}

/** A flag as it stands on the command line, or another argument. */
type ArgumentToken = {readonly index: number; readonly name?: string; readonly value?: string | undefined};

/** Where the first argument is that is neither a flag nor the value of one: the name of a command. */
export const commandIndex = (bridgeArgs: readonly string[]): number | undefined =>
	tokenize(bridgeArgs, globalOptions).find(({name}) => name === undefined)?.index;

/** The flags among the arguments of a command, with their values. */
export const flagsIn = (bridgeArgs: readonly string[], options: Options): ReadonlyMap<string, string> =>
	new Map(
		tokenize(bridgeArgs, {...globalOptions, ...options}).flatMap(({name, value = ''}) =>
			name === undefined ? [] : [[name, value] as const],
		),
	);

/** Whether one of the arguments before a command's name is a flag that does not belong there. */
export const hasUnknownFlag = (bridgeArgs: readonly string[]): boolean =>
	tokenize(bridgeArgs, globalOptions).some(({name, index: at}) => {
		const isKnown = Object.keys(globalOptions).some(key => flagName(key) === name);
		return name !== undefined && !(isKnown && bridgeArgs[at]?.startsWith('--'));
	});

/** The commands that have a flag, for errors. */
export type FlagOwners = {
	/** How these commands are written. */
	readonly owners: readonly string[];
	readonly alternative: string | undefined;
	/** The flags of all commands. */
	readonly allFlags: readonly string[];
};

type ParseInput = {
	/** The arguments of bridge, and the place of the command's name among them. */
	readonly bridgeArgs: readonly string[];
	readonly nameIndex: number | undefined;
	readonly upstreamCommand: readonly string[] | undefined;
	readonly owners: (flag: string) => Promise<FlagOwners>;
};

/** Understands the arguments of a command. What it does not take is an error. */
export async function parseCommandLine(
	listed: ListedCommand,
	{bridgeArgs, nameIndex, upstreamCommand: server, owners}: ParseInput,
): Promise<CommandInput<Options>> {
	const {title, command} = listed;
	const options: Options = {...commonOptions, ...command.options};
	const tokens = tokenize(bridgeArgs, options);
	const positionalIndexes = tokens
		.filter(({name, index: at}) => name === undefined && at !== nameIndex)
		.map(({index: at}) => at);
	const extraIndex = positionalIndexes[command.maxPositionals ?? 0];
	// What follows an argument that is not expected may belong to the command of a server.
	for (const word of tokens)
		if (word.index < (extraIndex ?? bridgeArgs.length))
			await checkFlag(word, bridgeArgs, {listed, options, owners});
	const positionals = positionalIndexes.map(at => bridgeArgs[at] ?? '');
	const extra = server && !command.takesUpstreamCommand ? (server[0] ?? '--') : undefined;
	const unexpected = extraIndex === undefined ? extra : bridgeArgs[extraIndex];
	if (unexpected !== undefined) {
		const before = bridgeArgs.slice(0, extraIndex).filter((_, at) => at !== nameIndex);
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

/** `wrap` is what to write if the argument is the command of a server. */
function unexpectedArgumentError(listed: ListedCommand, word: string, wrap: string | undefined): BridgeError {
	const {title, command} = listed;
	const server = wrap === undefined ? '' : `To name a server, write: ${wrap}`;
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
			if (values.length > 1) throw usageError(`--${name} is given ${values.length} times.`, 'Give it once.');
			return values[0];
		},
	};
	const read = Object.entries(options).map(([key, option]) => [key, option.read(flagName(key), flags)]);
	return Object.fromEntries(read);
}

/** Splits arguments into flags with their values and other words. */
function tokenize(bridgeArgs: readonly string[], options: Options): ArgumentToken[] {
	const optionsByFlag = new Map(Object.entries(options).map(([key, option]) => [flagName(key), option]));
	// A value that may be left out does not follow the flag for parseArgs: it is a word of its own.
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

/** Rejects an unknown flag, and a value that is missing or too much. */
async function checkFlag(
	{index: at, name, value}: ArgumentToken,
	bridgeArgs: readonly string[],
	context: ParseContext,
): Promise<void> {
	if (name === undefined) return;
	const [word = ''] = (bridgeArgs[at] ?? '').split('=', 1);
	const isLong = word === `--${name}`;
	const option = Object.entries(context.options).find(([key]) => flagName(key) === name)?.[1];
	if (!option || (!isLong && word !== '-h' && word !== '-v')) throw await unknownFlagError(word, context);
	if (option.value === undefined) {
		if (value !== undefined) throw usageError(`${word} takes no value.`, `Write ${word} alone.`);
	} else if (!option.isValueOptional && isMissing(value, bridgeArgs[at] ?? ''))
		throw usageError(`${word} has no value.`, `Write ${word} ${option.value}.`);
}

/** A flag is not taken for the value of the one before it. */
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
	// One letter is near to any short word.
	const isShort = name.length < 3;
	const guess = isShort ? '' : didYouMean(name, Object.keys(options).map(flagName), '--');
	const other = isShort || guess ? undefined : closestWord(name, allFlags);
	if (other !== undefined) {
		const remedy = `Did you mean --${other}? It is a flag of ${(await owners(other)).owners.join(', ')}.`;
		return usageError(`Unknown flag ${word}.`, remedy);
	}
	return usageError(`Unknown flag ${word}.`, `${guess} See ${helpCommand(listed)}.`.trim());
}
