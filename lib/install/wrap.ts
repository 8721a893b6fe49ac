import {isDeepStrictEqual} from 'node:util';
import {projectPaths} from '../clients/claude-state.js';
import {isTable, tableOf} from '../clients/kind.js';
import {secretInArgument} from '../clients/secret-values.js';
import {ownArgs, wrappedCommand} from '../clients/wrapped.js';
import {HIDDEN, hiddenArgs} from '../config/hide.js';
import {BridgeError} from '../errors.js';
import {memberAt} from './json-edit.js';
import {endOfString, firstStrings, withFirst, withoutFirst} from './list-edit.js';
import {groupOf, type Installable, parsed, plain, type Table, unsafe} from './targets.js';
import {valueAt} from './toml-edit.js';

/** A file whose servers have bridge in front of them, or no longer. */
export type Rewrapped = {
	readonly text: string;
	/** The text before and after the change of each entry. */
	readonly steps: ReadonlyArray<{readonly before: string; readonly after: string}>;
	/** Entries that were not changed, each with the reason. */
	readonly skipped: readonly string[];
};

export type WrapOptions = {
	readonly client: Installable;
	readonly file: string;
	/** The working directory, whose servers the state of Claude Code has, too. */
	readonly cwd: string;
};

/** Puts bridge in front of each command that is configured in a file. */
export const wrapAll = (text: string, own: readonly string[], options: WrapOptions): Rewrapped =>
	changeAll(text, options, words => {
		if (wrappedCommand(words)) return 'is wrapped already';
		if (ownArgs(words)) return 'runs bridge already';
		return {command: own[0] ?? '', first: [...own.slice(1), '--']};
	});

/** Removes bridge from each command that it is in front of. */
export const unwrapAll = (text: string, options: WrapOptions): Rewrapped =>
	changeAll(text, options, words => {
		const inner = wrappedCommand(words);
		if (inner) return {removed: words.length - inner.length};
		return ownArgs(words)?.includes('--') ? 'has flags of bridge: change it by hand' : 'is not wrapped';
	});

type Change = {readonly command: string; readonly first: readonly string[]} | {readonly removed: number};

function changeAll(
	text: string,
	options: WrapOptions,
	decide: (words: readonly string[]) => Change | string,
): Rewrapped {
	const {client, file, cwd} = options;
	const whole = parsed(client, text, file);
	const steps: Array<{before: string; after: string}> = [];
	const skipped: string[] = [];
	let now = text;
	for (const path of entriesIn(whole, client, cwd)) {
		const entry = at(whole, path);
		const name = String(path.at(-1));
		const words = wordsOf(entry);
		const change = words ? decide(words) : whyNot(entry);
		if (!words || typeof change === 'string') {
			skipped.push(`${name} ${change}`);
			continue;
		}
		const after = changed(now, path, words, change, options);
		steps.push({before: now, after});
		now = after;
	}
	return {text: now, steps, skipped};
}

const whyNot = (entry: unknown): string =>
	tableOf(entry).url === undefined
		? 'has no command'
		: 'has a url; to put bridge in front of it, use the command bridge --url URL';

/** The paths of all entries: those of the user or the project, and those that Claude Code has for the working directory. */
function entriesIn(whole: Table, client: Installable, cwd: string): string[][] {
	const projects = client === 'claude' ? projectPaths(cwd).map(path => ['projects', path, 'mcpServers']) : [];
	return [[groupOf(client)], ...projects].flatMap(group =>
		Object.keys(tableOf(at(whole, group))).map(name => [...group, name]),
	);
}

const at = (value: unknown, path: readonly string[]): unknown =>
	path.reduce<unknown>(
		(inner, key) => (Object.hasOwn(tableOf(inner), key) ? tableOf(inner)[key] : undefined),
		value,
	);

/** The command and its arguments; undefined where an entry has none. */
function wordsOf(entry: unknown): string[] | undefined {
	const {command, args = []} = tableOf(entry);
	if (typeof command !== 'string' || !Array.isArray(args)) return;
	return args.every(arg => typeof arg === 'string') ? [command, ...args] : undefined;
}

/** The text with one entry changed. It is compared with what was wanted, since a text may look like an entry and be none. */
function changed(
	text: string,
	path: readonly string[],
	words: readonly string[],
	change: Change,
	{client, file}: WrapOptions,
): string {
	const before = parsed(client, text, file);
	const [command = '', ...args] =
		'removed' in change ? words.slice(change.removed) : [change.command, ...change.first, ...words];
	const wanted = replacedAt(before, path, {...tableOf(at(before, path)), command, args});
	const after =
		'removed' in change ? unwrapped(text, path, change.removed, client) : wrapped(text, path, change, client);
	if (after !== undefined && isDeepStrictEqual(valuesOf(after, client), plain(wanted))) return after;
	throw unsafe(file, 'an entry is written in an unusual way', path, {command, args: withoutSecrets(args)});
}

const withoutSecrets = (args: readonly string[]): string[] =>
	hiddenArgs(args).map((arg, at) => (secretInArgument(args[at - 1] ?? '', arg) ? HIDDEN : arg));

/** The values of a text; undefined where it is broken. */
function valuesOf(text: string, client: Installable): unknown {
	try {
		return plain(parsed(client, text, ''));
	} catch (error) {
		if (error instanceof BridgeError) return;
		throw error;
	}
}

function replacedAt(value: unknown, [key, ...rest]: readonly string[], entry: Table): unknown {
	if (key === undefined) return entry;
	return isTable(value) ? {...value, [key]: replacedAt(value[key], rest, entry)} : value;
}

type Places = {readonly command: number; readonly args: number | undefined; readonly indent: string};

/** Where the values of an entry start, and the space before the key `command`. */
function placesOf(text: string, path: readonly string[], client: Installable): Places | undefined {
	if (client === 'codex') {
		const command = valueAt(text, path, 'command');
		return command === undefined ? undefined : {command, args: valueAt(text, path, 'args'), indent: '\n'};
	}
	const command = memberAt(text, [...path, 'command']);
	if (!command) return;
	let blank = command.start;
	while (blank > 0 && ' \t\r\n'.includes(text[blank - 1] ?? '')) blank--;
	const indent = text.slice(blank, command.start);
	return {command: command.value.start, args: memberAt(text, [...path, 'args'])?.value.start, indent};
}

function wrapped(
	text: string,
	path: readonly string[],
	{command, first}: {readonly command: string; readonly first: readonly string[]},
	client: Installable,
): string | undefined {
	const places = placesOf(text, path, client);
	const end = places && endOfString(text, places.command);
	if (!places || end === undefined) return;
	// The command stays as it is written, so that unwrapping restores it to the letter.
	const words = [...first.map(word => JSON.stringify(word)), text.slice(places.command, end)];
	const edits: Edit[] = [
		{at: places.command, edit: rest => JSON.stringify(command) + rest.slice(end - places.command)},
	];
	const list =
		client === 'codex'
			? `\nargs = [${words.join(', ')}]`
			: `,${places.indent || ' '}"args": [${words.join(', ')}]`;
	edits.push(
		places.args === undefined
			? {at: end, edit: rest => list + rest}
			: {at: places.args, edit: rest => withFirst(rest, 0, words)},
	);
	return edited(text, edits);
}

function unwrapped(
	text: string,
	path: readonly string[],
	removed: number,
	client: Installable,
): string | undefined {
	const places = placesOf(text, path, client);
	const end = places && endOfString(text, places.command);
	if (!places || end === undefined || places.args === undefined) return;
	const {command, args} = places;
	// Of the removed words, the first is the command of bridge, and the one behind the last becomes the command.
	const inner = firstStrings(text, args, removed).at(-1);
	if (!inner) return;
	const written = text.slice(inner.start, inner.end);
	return edited(text, [
		{at: command, edit: rest => written + rest.slice(end - command)},
		{at: args, edit: rest => withoutFirst(rest, 0, removed)},
	]);
}

type Edit = {readonly at: number; readonly edit: (rest: string) => string};

/** A text with edits at several places, the last one first, so that the places of the others stay. */
const edited = (text: string, edits: readonly Edit[]): string =>
	edits
		.toSorted((one, other) => other.at - one.at)
		.reduce((now, {at: place, edit}) => now.slice(0, place) + edit(now.slice(place)), text);
