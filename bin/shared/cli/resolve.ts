import {twoServersError} from '../flag-values.js';
import type {CommandInput, CommandMode, CommandRegistry, ListedCommand} from './command.js';
import {flagName, type Options} from './option.js';
import {
	commandIndex,
	type FlagOwners,
	flagsIn,
	hasUnknownFlag,
	parseCommandLine,
	splitAtDoubleDash,
} from './parse.js';
import {unknownCommandError} from './unknown-command.js';

/** The action that a command line selects. */
type ResolvedCommand =
	| {readonly kind: 'help'; readonly name: string | undefined}
	| {readonly kind: 'version'}
	| (ListedCommand & {readonly kind: 'run'; readonly input: CommandInput<Options>});

/** Finds the command of a command line and parses its arguments. */
export async function resolveCommand(
	argv: readonly string[],
	commands: CommandRegistry,
): Promise<ResolvedCommand> {
	const [bridgeArgs, server] = splitAtDoubleDash(argv);
	const nameIndex = bridgeArgs.length === 0 ? undefined : commandIndex(bridgeArgs);
	const name = nameIndex === undefined ? undefined : bridgeArgs[nameIndex];
	const named = name === undefined ? undefined : await commands.find(name);
	// After an unknown flag, the word may be the flag's value instead of a command.
	if (name !== undefined && !named && !hasUnknownFlag(bridgeArgs.slice(0, nameIndex)))
		throw unknownCommandError(commands, name, [
			...bridgeArgs.slice(0, nameIndex),
			'--',
			// The mode name "wrap" is not part of the server's command line.
			...bridgeArgs.slice(nameIndex).filter((_, at) => !(at === 0 && name === 'wrap')),
			...(server ?? []),
		]);
	const flags = flagsIn(bridgeArgs, named?.command.options ?? {});
	if (flags.has('help') || [...flags.values()].includes('--help')) return {kind: 'help', name};
	if (flags.has('version')) return {kind: 'version'};
	const listed = named ?? (await commands.findMode(modeOf(flags.has('url'), server)));
	const input = await parseCommandLine(listed, {
		bridgeArgs,
		nameIndex,
		upstreamCommand: server,
		owners: name => flagOwners(commands, name),
	});
	return {kind: 'run', ...listed, input};
}

/** Selects the mode of `bridge` without a command name. */
function modeOf(hasUrl: boolean, server: readonly string[] | undefined): CommandMode {
	if (hasUrl && server) throw twoServersError();
	return hasUrl ? 'url' : server ? 'wrap' : 'filter';
}

/** Returns the commands that accept a flag. Loads all commands, which only happens for errors. */
async function flagOwners(commands: CommandRegistry, flag: string): Promise<FlagOwners> {
	const all = await commands.all();
	const optionOf = ({command}: ListedCommand) =>
		Object.entries(command.options).find(([key]) => flagName(key) === flag)?.[1];
	const found = all.filter(optionOf);
	return {
		owners: found.map(({title}) => title),
		alternative: found.map(optionOf).find(option => option?.alternative)?.alternative,
		allFlags: all.flatMap(({command}) => Object.keys(command.options).map(flagName)),
	};
}
