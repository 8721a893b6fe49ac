import {homedir} from 'node:os';
import {join} from 'node:path';
import process from 'node:process';
import {isDeepStrictEqual} from 'node:util';
import {parse as parseToml} from 'smol-toml';
import {parseConfigText} from '../../config/parse-text.js';
import {BridgeError} from '../../core/errors.js';
import {objectOf} from '../../util/json.js';
import {claudeStatePath, codexHome, vscodeUserFile} from '../import/client-files.js';
import {setJsonMember} from './edit-json.js';
import {setTomlTable} from './edit-toml.js';

/** Programs whose configuration bridge can write itself into. */
export const installableClients = ['claude', 'codex', 'cursor', 'vscode'] as const;
export type InstallableClient = (typeof installableClients)[number];

/** What is to be reached: a command to run, or a gateway. */
export type ClientEntry =
	| {readonly command: string; readonly args: readonly string[]; readonly hasTurns?: boolean}
	| {readonly url: string; readonly token?: string};

type InstallLocation = {
	readonly cwd: string;
	readonly env: NodeJS.ProcessEnv;
	readonly isForUser: boolean;
};

/** The file that a client reads. Codex has one for the user alone. */
export function clientConfigPath(client: InstallableClient, {cwd, env, isForUser}: InstallLocation): string {
	const context = {cwd, env, home: homedir(), platform: process.platform};
	if (client === 'codex') return join(codexHome(context), 'config.toml');
	if (client === 'claude') return isForUser ? claudeStatePath(context) : join(cwd, '.mcp.json');
	if (client === 'vscode') return isForUser ? vscodeUserFile(context) : join(cwd, '.vscode', 'mcp.json');
	return join(isForUser ? homedir() : cwd, '.cursor', 'mcp.json');
}

/** The key that a client has its servers under. */
export const serversKeyOf = (client: InstallableClient): string =>
	new Map<InstallableClient, string>([
		['codex', 'mcp_servers'],
		['vscode', 'servers'],
	]).get(client) ?? 'mcpServers';

/** What bridge decides in an entry. Whatever else is there, variables say, is the user's. */
const ownedKeys = ['type', 'command', 'args', 'url'];

/**
 * The time limits of an entry in Codex whose tools run turns. By default, Codex gives up a call after 300 s, as long as a
 * turn may take: it would not get the error that has the text so far, nor a turn that waits for earlier ones. bridge has a
 * limit for each turn itself.
 */
const turnTimeouts = {startup_timeout_sec: 60, tool_timeout_sec: 3600};

/** A client's file with the entry in it, and all else as it was. */
export function setClientEntry(
	client: InstallableClient,
	text: string,
	name: string,
	entry: ClientEntry,
	file: string,
): string {
	const path = [serversKeyOf(client), name];
	const [group = ''] = path;
	const before = splitEntry(parseClientFile(client, text, file), group, name);
	const value = {...formatEntry(client, entry), ...timeoutsFor(client, entry, before.own)};
	const replaced = [...ownedKeys, ...Object.keys(value)];
	const preserved = Object.entries(before.own ?? {}).filter(([key]) => !replaced.includes(key));
	const expected = {...value, ...Object.fromEntries(preserved)};
	if (isDeepStrictEqual(toJsonValue(before.own), toJsonValue(expected))) return text;
	let changed: string;
	try {
		changed =
			client === 'codex' ? setTomlTable(text, path, value, replaced) : setJsonMember(text, path, expected);
	} catch (error) {
		throw unsafeEditError(file, error instanceof Error ? error.message : String(error), path, value);
	}
	const after = splitEntry(parseClientFile(client, changed, file), group, name);
	const isAsExpected =
		isDeepStrictEqual(after.rest, before.rest) &&
		isDeepStrictEqual(toJsonValue(after.own), toJsonValue(expected));
	if (!isAsExpected) throw unsafeEditError(file, 'what is there is written in a way of its own', path, value);
	return changed;
}

/**
 * The first of `NAME`, `NAME-2`, … that no other entry has. An entry with the same URL, or for the same command of bridge, is
 * the entry itself.
 */
export function unusedEntryName(
	client: InstallableClient,
	text: string,
	{file, base, entry}: {readonly file: string; readonly base: string; readonly entry: ClientEntry},
): string {
	const {[serversKeyOf(client)]: group} = parseClientFile(client, text, file);
	const servers = objectOf(group);
	const isTaken = (name: string): boolean =>
		Object.hasOwn(servers, name) && !isSameEntry(entry, objectOf(servers[name]));
	for (let count = 1; ; count++) {
		const name = count === 1 ? base : `${base}-${count}`;
		if (!isTaken(name)) return name;
	}
}

function isSameEntry(entry: ClientEntry, {url, args}: ClientTable): boolean {
	if ('url' in entry) return url === entry.url;
	return Array.isArray(args) && bridgeCommands.some(name => args.includes(name) && entry.args.includes(name));
}

/** The commands that entries run. */
const bridgeCommands = ['serve', 'hub'];

/** The entry as a client writes it. */
function formatEntry(client: InstallableClient, entry: ClientEntry): ClientTable {
	const type = client === 'claude' || client === 'vscode' ? {type: 'url' in entry ? 'http' : 'stdio'} : {};
	if (!('url' in entry)) return {...type, command: entry.command, args: entry.args};
	const headers = {'X-Bridge-Token': entry.token};
	const name = client === 'codex' ? 'http_headers' : 'headers';
	return {...type, url: entry.url, ...(entry.token === undefined ? {} : {[name]: headers})};
}

/** Limits that the file does not have yet. */
const timeoutsFor = (client: InstallableClient, entry: ClientEntry, before: ClientTable = {}): ClientTable =>
	client === 'codex' && 'hasTurns' in entry && entry.hasTurns
		? Object.fromEntries(Object.entries(turnTimeouts).filter(([key]) => !Object.hasOwn(before, key)))
		: {};

export type ClientTable = {readonly [key: string]: unknown};

/** The values of a client's file. */
export function parseClientFile(client: InstallableClient, text: string, file: string): ClientTable {
	if (text.trim() === '') return {};
	try {
		if (client === 'codex') return parseToml(text);
	} catch (error) {
		throw brokenFileError(file, String((error as Error).message).split('\n')[0] ?? '');
	}
	try {
		// The state of Claude Code may be long, and JSON without comments.
		return JSON.parse(text);
	} catch {}
	const {value, issues} = parseConfigText(text, '.json');
	const [issue] = issues;
	if (issue) throw brokenFileError(file, `line ${issue.line}: ${issue.text}`);
	return value as ClientTable;
}

/** The entry, and all that is not it. */
function splitEntry(
	whole: ClientTable,
	group: string,
	name: string,
): {own: ClientTable | undefined; rest: unknown} {
	const {[group]: servers = {}, ...others} = whole;
	const {[name]: own, ...rest} = servers as ClientTable;
	return {own: own as ClientTable | undefined, rest: toJsonValue({...others, [group]: rest})};
}

/** A value as JSON has it: parsers make objects of various prototypes. */
export const toJsonValue = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

const brokenFileError = (file: string, reason: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`${file} is broken: ${reason}`,
		'Mend it first; nothing was changed.',
		{file},
	);

export const unsafeEditError = (
	file: string,
	reason: string,
	path: readonly string[],
	value: object,
): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`${file} cannot be changed without a risk: ${reason}.`,
		`Nothing was changed. Write it there yourself: ${path.join('.')} = ${JSON.stringify(value)}`,
		{file},
	);
