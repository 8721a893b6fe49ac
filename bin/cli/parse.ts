import {parseArgs} from 'node:util';
import {quoted} from '../../lib/config/hub-snippet.js';
import type {BridgeError} from '../../lib/errors.js';
import {nearest, nearestWord} from '../../lib/nearest.js';
import {invalid} from '../common/values.js';
import type {Input, Listed} from './command.js';
import {flagName, type Given, type Options, type Values} from './option.js';
import {commonOptions, frontOptions} from './options.js';

/** The arguments of bridge, and the command line after `--`, if there is one. */
export function splitAtDashes(
	argv: readonly string[],
): readonly [own: readonly string[], server: readonly string[] | undefined] {
	const at = argv.indexOf('--');
	return at === -1 ? [argv, undefined] : [argv.slice(0, at), argv.slice(at + 1)];
}

/** A flag as it stands on the command line, or another argument. */
type Word = {readonly at: number; readonly name?: string; readonly value?: string | undefined};

/** Where the first argument is that is neither a flag nor the value of one: the name of a command. */
export const commandAt = (own: readonly string[]): number | undefined =>
	wordsOf(own, frontOptions).find(({name}) => name === undefined)?.at;

/** The flags among the arguments of a command, with their values. */
export const flagsIn = (own: readonly string[], options: Options): ReadonlyMap<string, string> =>
	new Map(
		wordsOf(own, {...frontOptions, ...options}).flatMap(({name, value = ''}) =>
			name === undefined ? [] : [[name, value] as const],
		),
	);

/** Whether one of the arguments before a command's name is a flag that does not belong there. */
export const hasUnknownFlag = (own: readonly string[]): boolean =>
	wordsOf(own, frontOptions).some(({name, at}) => {
		const isKnown = Object.keys(frontOptions).some(key => flagName(key) === name);
		return name !== undefined && !(isKnown && own[at]?.startsWith('--'));
	});

/** The commands that have a flag, for errors. */
export type Owners = {
	/** How these commands are written. */
	readonly owners: readonly string[];
	readonly elsewhere: string | undefined;
	/** The flags of all commands. */
	readonly known: readonly string[];
};

type Typed = {
	/** The arguments of bridge, and the place of the command's name among them. */
	readonly own: readonly string[];
	readonly nameAt: number | undefined;
	readonly server: readonly string[] | undefined;
	readonly owners: (flag: string) => Promise<Owners>;
};

/** Understands the arguments of a command. What it does not take is an error. */
export async function parse(listed: Listed, {own, nameAt, server, owners}: Typed): Promise<Input<Options>> {
	const {title, command} = listed;
	const options: Options = {...commonOptions, ...command.options};
	const all = wordsOf(own, options);
	const places = all.filter(({name, at}) => name === undefined && at !== nameAt).map(({at}) => at);
	const extraAt = places[command.maxWords ?? 0];
	// What follows an argument that is not expected may belong to the command of a server.
	for (const word of all)
		if (word.at < (extraAt ?? own.length)) await checkFlag(word, own, {listed, options, owners});
	const words = places.map(at => own[at] ?? '');
	const extra = server && !command.takesServer ? (server[0] ?? '--') : undefined;
	const unexpected = extraAt === undefined ? extra : own[extraAt];
	if (unexpected !== undefined) {
		const before = own.slice(0, extraAt).filter((_, at) => at !== nameAt);
		const wrap = [title, ...before.map(quoted), '--', ...own.slice(extraAt).map(quoted)].join(' ');
		throw unexpectedArgument(listed, unexpected, command.takesServer && !server ? wrap : undefined);
	}
	return {words, server: server ?? [], options: valuesOf(command.options, all)};
}

/** `wrap` is what to write if the argument is the command of a server. */
function unexpectedArgument(listed: Listed, word: string, wrap: string | undefined): BridgeError {
	const {title, command} = listed;
	const server = wrap === undefined ? '' : `To name a server, write: ${wrap}`;
	const remedy = [command.unexpected?.(word) ?? '', server].join(' ').trim();
	return invalid(`Unexpected argument "${word}" for ${title}.`, remedy || `See ${helpFor(listed)}.`);
}

const helpFor = ({group, title}: Listed): string =>
	group === undefined ? 'bridge --help' : `${title} --help`;

function valuesOf(options: Options, words: readonly Word[]): Values<Options> {
	const given: Given = {
		all: name => words.flatMap(word => (word.name === name ? (word.value ?? '') : [])),
		isGiven: name => words.some(word => word.name === name),
		one(name) {
			const values = given.all(name);
			if (values.length > 1) throw invalid(`--${name} is given ${values.length} times.`, 'Give it once.');
			return values[0];
		},
	};
	const read = Object.entries(options).map(([key, option]) => [key, option.read(flagName(key), given)]);
	return Object.fromEntries(read);
}

/** Splits arguments into flags with their values and other words. */
function wordsOf(own: readonly string[], options: Options): Word[] {
	const known = new Map(Object.entries(options).map(([key, option]) => [flagName(key), option]));
	// A value that may be left out does not follow the flag for parseArgs: it is a word of its own.
	const config = [...known].map(([name, {value, isValueOptional}]) => {
		const short = name === 'help' || name === 'version' ? {short: name.slice(0, 1)} : {};
		return [name, {type: value === undefined || isValueOptional ? 'boolean' : 'string', ...short}] as const;
	});
	const {tokens} = parseArgs({
		args: [...own],
		options: Object.fromEntries(config),
		strict: false,
		allowPositionals: true,
		tokens: true,
	});
	const words: Word[] = [];
	for (const token of tokens) {
		const last = words.at(-1);
		if (token.kind === 'option') words.push({at: token.index, name: token.name, value: token.value});
		else if (last?.name !== undefined && last.value === undefined && known.get(last.name)?.isValueOptional)
			words[words.length - 1] = {...last, value: own[token.index]};
		else words.push({at: token.index});
	}
	return words;
}

type Known = {
	readonly listed: Listed;
	readonly options: Options;
	readonly owners: Typed['owners'];
};

/** Rejects an unknown flag, and a value that is missing or too much. */
async function checkFlag({at, name, value}: Word, own: readonly string[], known: Known): Promise<void> {
	if (name === undefined) return;
	const [word = ''] = (own[at] ?? '').split('=', 1);
	const isLong = word === `--${name}`;
	const option = Object.entries(known.options).find(([key]) => flagName(key) === name)?.[1];
	if (!option || (!isLong && word !== '-h' && word !== '-v')) throw await unknownFlag(word, known);
	if (option.value === undefined) {
		if (value !== undefined) throw invalid(`${word} takes no value.`, `Write ${word} alone.`);
	} else if (!option.isValueOptional && isMissing(value, own[at] ?? ''))
		throw invalid(`${word} has no value.`, `Write ${word} ${option.value}.`);
}

/** A flag is not taken for the value of the one before it. */
const isMissing = (value: string | undefined, word: string): boolean =>
	value === undefined || value === '' || (value.startsWith('--') && !word.includes('='));

async function unknownFlag(word: string, {listed, options, owners}: Known): Promise<BridgeError> {
	const name = word.replace(/^-+/, '');
	const {owners: others, elsewhere, known} = await owners(name);
	if (others.length > 0 && word === `--${name}`)
		return invalid(
			`${word} is not valid for ${listed.title}.`,
			elsewhere ?? `It is a flag of ${others.join(', ')}.`,
		);
	// One letter is near to any short word.
	const isShort = name.length < 3;
	const guess = isShort ? '' : nearest(name, Object.keys(options).map(flagName), '--');
	const other = isShort || guess ? undefined : nearestWord(name, known);
	if (other !== undefined) {
		const remedy = `Did you mean --${other}? It is a flag of ${(await owners(other)).owners.join(', ')}.`;
		return invalid(`Unknown flag ${word}.`, remedy);
	}
	return invalid(`Unknown flag ${word}.`, `${guess} See ${helpFor(listed)}.`.trim());
}
