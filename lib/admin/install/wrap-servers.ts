import {isDeepStrictEqual} from 'node:util';
import {projectPaths} from '../../config/client-formats/claude-state.js';
import {asTable, isTable} from '../../config/client-formats/client-format.js';
import {HIDDEN_VALUE, redactArgs} from '../../config/redact.js';
import {BridgeError} from '../../core/errors.js';
import {bridgeArgs, wrappedCommand} from '../import/bridge-command.js';
import {findSecretInArgument} from '../import/detect-secrets.js';
import {
	type ClientTable,
	type InstallableClient,
	parseClientFile,
	serversKeyOf,
	toJsonValue,
	unsafeEditError,
} from './client-entry.js';
import {findJsonMember} from './edit-json.js';
import {endOfString, firstStrings, prependWords, removeFirstWords} from './edit-list.js';
import {findTomlValue} from './edit-toml.js';

/** A file after wrapping or unwrapping its servers. */
type WrapResult = {
	readonly text: string;
	/** The text before and after each changed entry. */
	readonly steps: ReadonlyArray<{readonly before: string; readonly after: string}>;
	/** Unchanged entries, each with the reason. */
	readonly skipped: readonly string[];
};

type WrapServersOptions = {
	readonly client: InstallableClient;
	readonly file: string;
	/** The working directory, which selects the project in the state of Claude Code. */
	readonly cwd: string;
};

/** Adds bridge in front of each configured command. */
export const wrapServers = (
	text: string,
	bridgeWords: readonly string[],
	options: WrapServersOptions,
): WrapResult =>
	changeServers(text, options, words => {
		if (wrappedCommand(words)) return 'is already wrapped';
		if (bridgeArgs(words)) return 'already runs bridge';
		return {command: bridgeWords[0] ?? '', first: [...bridgeWords.slice(1), '--']};
	});

/** Removes bridge from each wrapped command. */
export const unwrapServers = (text: string, options: WrapServersOptions): WrapResult =>
	changeServers(text, options, words => {
		const inner = wrappedCommand(words);
		if (inner) return {removed: words.length - inner.length};
		return bridgeArgs(words)?.includes('--')
			? 'has bridge flags and must be edited by hand'
			: 'is not wrapped';
	});

type Change = {readonly command: string; readonly first: readonly string[]} | {readonly removed: number};

function changeServers(
	text: string,
	options: WrapServersOptions,
	decide: (words: readonly string[]) => Change | string,
): WrapResult {
	const {client, file, cwd} = options;
	const config = parseClientFile(client, text, file);
	const steps: Array<{before: string; after: string}> = [];
	const skipped: string[] = [];
	let current = text;
	for (const path of listEntryPaths(config, client, cwd)) {
		const entry = valueAtPath(config, path);
		const name = String(path.at(-1));
		const words = wordsOf(entry);
		const change = words ? decide(words) : skipReason(entry);
		if (!words || typeof change === 'string') {
			skipped.push(`${name} ${change}`);
			continue;
		}
		const after = changeEntry(current, path, words, change, options);
		steps.push({before: current, after});
		current = after;
	}
	return {text: current, steps, skipped};
}

const skipReason = (entry: unknown): string =>
	asTable(entry).url === undefined
		? 'has no command'
		: 'has a url, and needs the command bridge --url URL instead';

/** The paths of all entries, including those of Claude Code for the working directory. */
function listEntryPaths(whole: ClientTable, client: InstallableClient, cwd: string): string[][] {
	const projects = client === 'claude' ? projectPaths(cwd).map(path => ['projects', path, 'mcpServers']) : [];
	return [[serversKeyOf(client)], ...projects].flatMap(group =>
		Object.keys(asTable(valueAtPath(whole, group))).map(name => [...group, name]),
	);
}

const valueAtPath = (value: unknown, path: readonly string[]): unknown =>
	path.reduce<unknown>(
		(inner, key) => (Object.hasOwn(asTable(inner), key) ? asTable(inner)[key] : undefined),
		value,
	);

/** Returns the command and its arguments, or undefined if the entry has none. */
function wordsOf(entry: unknown): string[] | undefined {
	const {command, args = []} = asTable(entry);
	if (typeof command !== 'string' || !Array.isArray(args)) return;
	return args.every(arg => typeof arg === 'string') ? [command, ...args] : undefined;
}

/** Changes one entry and verifies the result, since text in a string may look like an entry. */
function changeEntry(
	text: string,
	path: readonly string[],
	words: readonly string[],
	change: Change,
	{client, file}: WrapServersOptions,
): string {
	const before = parseClientFile(client, text, file);
	const [command = '', ...args] =
		'removed' in change ? words.slice(change.removed) : [change.command, ...change.first, ...words];
	const expected = replaceAtPath(before, path, {...asTable(valueAtPath(before, path)), command, args});
	const after =
		'removed' in change
			? unwrapEntry(text, path, change.removed, client)
			: wrapEntry(text, path, change, client);
	if (after !== undefined && isDeepStrictEqual(tryParse(after, client), toJsonValue(expected))) return after;
	throw unsafeEditError(file, 'an entry is written in an unusual way', path, {
		command,
		args: hideSecretArgs(args),
	});
}

const hideSecretArgs = (args: readonly string[]): string[] =>
	redactArgs(args).map((arg, at) => (findSecretInArgument(args[at - 1] ?? '', arg) ? HIDDEN_VALUE : arg));

/** Parses a text. Returns undefined if it is invalid. */
function tryParse(text: string, client: InstallableClient): unknown {
	try {
		return toJsonValue(parseClientFile(client, text, ''));
	} catch (error) {
		if (error instanceof BridgeError) return;
		throw error;
	}
}

function replaceAtPath(value: unknown, [key, ...rest]: readonly string[], entry: ClientTable): unknown {
	if (key === undefined) return entry;
	return isTable(value) ? {...value, [key]: replaceAtPath(value[key], rest, entry)} : value;
}

type EditOffsets = {readonly command: number; readonly args: number | undefined; readonly indent: string};

/** Finds the offsets of an entry's values, and the whitespace before the key `command`. */
function findOffsets(
	text: string,
	path: readonly string[],
	client: InstallableClient,
): EditOffsets | undefined {
	if (client === 'codex') {
		const command = findTomlValue(text, path, 'command');
		return command === undefined
			? undefined
			: {command, args: findTomlValue(text, path, 'args'), indent: '\n'};
	}
	const command = findJsonMember(text, [...path, 'command']);
	if (!command) return;
	let blank = command.start;
	while (blank > 0 && ' \t\r\n'.includes(text[blank - 1] ?? '')) blank--;
	const indent = text.slice(blank, command.start);
	return {command: command.value.start, args: findJsonMember(text, [...path, 'args'])?.value.start, indent};
}

function wrapEntry(
	text: string,
	path: readonly string[],
	{command, first}: {readonly command: string; readonly first: readonly string[]},
	client: InstallableClient,
): string | undefined {
	const offsets = findOffsets(text, path, client);
	const end = offsets && endOfString(text, offsets.command);
	if (!offsets || end === undefined) return;
	// Keeps the original notation of the command, so that unwrapping restores it exactly.
	const words = [...first.map(word => JSON.stringify(word)), text.slice(offsets.command, end)];
	const edits: Edit[] = [
		{at: offsets.command, edit: rest => JSON.stringify(command) + rest.slice(end - offsets.command)},
	];
	const list =
		client === 'codex'
			? `\nargs = [${words.join(', ')}]`
			: `,${offsets.indent || ' '}"args": [${words.join(', ')}]`;
	edits.push(
		offsets.args === undefined
			? {at: end, edit: rest => list + rest}
			: {at: offsets.args, edit: rest => prependWords(rest, 0, words)},
	);
	return applyEdits(text, edits);
}

function unwrapEntry(
	text: string,
	path: readonly string[],
	removed: number,
	client: InstallableClient,
): string | undefined {
	const offsets = findOffsets(text, path, client);
	const end = offsets && endOfString(text, offsets.command);
	if (!offsets || end === undefined || offsets.args === undefined) return;
	const {command, args} = offsets;
	// The first removed word was bridge's `command`. The word after the last one becomes the command again.
	const inner = firstStrings(text, args, removed).at(-1);
	if (!inner) return;
	const written = text.slice(inner.start, inner.end);
	return applyEdits(text, [
		{at: command, edit: rest => written + rest.slice(end - command)},
		{at: args, edit: rest => removeFirstWords(rest, 0, removed)},
	]);
}

type Edit = {readonly at: number; readonly edit: (rest: string) => string};

/** Applies edits from the last offset to the first, so that the other offsets stay valid. */
const applyEdits = (text: string, edits: readonly Edit[]): string =>
	edits
		.toSorted((one, other) => other.at - one.at)
		.reduce((current, {at: offset, edit}) => current.slice(0, offset) + edit(current.slice(offset)), text);
