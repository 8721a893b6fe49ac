import {twoServers} from '../common/values.js';
import type {Commands, Input, Listed, Mode} from './command.js';
import {flagName, type Options} from './option.js';
import {commandAt, flagsIn, hasUnknownFlag, type Owners, parse, splitAtDashes} from './parse.js';
import {unknownCommand} from './unknown-command.js';

/** What a command line asks for. */
export type Resolved =
	| {readonly kind: 'help'; readonly name: string | undefined}
	| {readonly kind: 'version'}
	| (Listed & {readonly kind: 'run'; readonly input: Input<Options>});

/** Finds the command of a command line, and understands its arguments. */
export async function resolve(argv: readonly string[], commands: Commands): Promise<Resolved> {
	const [own, server] = splitAtDashes(argv);
	const nameAt = own.length === 0 ? undefined : commandAt(own);
	const name = nameAt === undefined ? undefined : own[nameAt];
	const named = name === undefined ? undefined : await commands.find(name);
	// The value of an unknown flag before it is not taken for a command.
	if (name !== undefined && !named && !hasUnknownFlag(own.slice(0, nameAt)))
		throw unknownCommand(commands, name, [
			...own.slice(0, nameAt),
			'--',
			// The name of what bridge does without a command is not part of the server's.
			...own.slice(nameAt).filter((_, at) => !(at === 0 && name === 'wrap')),
			...(server ?? []),
		]);
	const flags = flagsIn(own, named?.command.options ?? {});
	if (flags.has('help') || [...flags.values()].includes('--help')) return {kind: 'help', name};
	if (flags.has('version')) return {kind: 'version'};
	const listed = named ?? (await commands.findMode(modeOf(flags.has('url'), server)));
	const input = await parse(listed, {own, nameAt, server, owners: name => ownersOf(commands, name)});
	return {kind: 'run', ...listed, input};
}

/** What `bridge` without a command does. */
function modeOf(hasUrl: boolean, server: readonly string[] | undefined): Mode {
	if (hasUrl && server) throw twoServers();
	return hasUrl ? 'url' : server ? 'wrap' : 'filter';
}

/** The commands that have a flag. All are loaded for that, which only errors need. */
async function ownersOf(commands: Commands, flag: string): Promise<Owners> {
	const all = await commands.all();
	const optionOf = ({command}: Listed) =>
		Object.entries(command.options).find(([key]) => flagName(key) === flag)?.[1];
	const found = all.filter(optionOf);
	return {
		owners: found.map(({title}) => title),
		elsewhere: found.map(optionOf).find(option => option?.elsewhere)?.elsewhere,
		known: all.flatMap(({command}) => Object.keys(command.options).map(flagName)),
	};
}
