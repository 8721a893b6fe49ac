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

/** Clients whose configuration `bridge install` can edit. */
export const installableClients = ['claude', 'codex', 'cursor', 'vscode'] as const;
export type InstallableClient = (typeof installableClients)[number];

/** The content of an entry: a command to run, or the URL of a gateway. */
export type ClientEntry =
	| {readonly command: string; readonly args: readonly string[]; readonly hasTurns?: boolean}
	| {readonly url: string; readonly token?: string};

type InstallLocation = {
	readonly cwd: string;
	readonly env: NodeJS.ProcessEnv;
	readonly isForUser: boolean;
};

/** The configuration file of a client. Codex only has one per user. */
export function clientConfigPath(client: InstallableClient, {cwd, env, isForUser}: InstallLocation): string {
	const context = {cwd, env, home: homedir(), platform: process.platform};
	if (client === 'codex') return join(codexHome(context), 'config.toml');
	if (client === 'claude') return isForUser ? claudeStatePath(context) : join(cwd, '.mcp.json');
	if (client === 'vscode') return isForUser ? vscodeUserFile(context) : join(cwd, '.vscode', 'mcp.json');
	return join(isForUser ? homedir() : cwd, '.cursor', 'mcp.json');
}

/** The key of the table of servers in a client's file. */
export const serversKeyOf = (client: InstallableClient): string =>
	new Map<InstallableClient, string>([
		['codex', 'mcp_servers'],
		['vscode', 'servers'],
	]).get(client) ?? 'mcpServers';

/** The keys of an entry that bridge overwrites. Other keys, such as variables, belong to the user. */
const ownedKeys = ['type', 'command', 'args', 'url'];

/**
 * Timeouts of a Codex entry whose tools run turns. Codex's default of 300 s is also the default limit of a
 * turn. With it, Codex would miss timeout errors with partial text, and turns that are queued behind others.
 * bridge limits each turn itself.
 */
const turnTimeouts = {startup_timeout_sec: 60, tool_timeout_sec: 3600};

/** Returns a client's file with the entry set and everything else unchanged. */
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
	if (!isAsExpected)
		throw unsafeEditError(file, 'its content is written in an unsupported style', path, value);
	return changed;
}

/**
 * Returns the first unused name of `NAME`, `NAME-2`, …. An entry with the same URL, or with the same bridge
 * command, may be replaced.
 */
export function unusedEntryName(
	client: InstallableClient,
	text: string,
	{file, base, entry}: {readonly file: string; readonly base: string; readonly entry: ClientEntry},
): string {
	const {[serversKeyOf(client)]: group} = parseClientFile(client, text, file);
	const servers = objectOf(group);
	const isUsed = (name: string): boolean =>
		Object.hasOwn(servers, name) && !isSameEntry(entry, objectOf(servers[name]));
	for (let count = 1; ; count++) {
		const name = count === 1 ? base : `${base}-${count}`;
		if (!isUsed(name)) return name;
	}
}

function isSameEntry(entry: ClientEntry, {url, args}: ClientTable): boolean {
	if ('url' in entry) return url === entry.url;
	return Array.isArray(args) && bridgeCommands.some(name => args.includes(name) && entry.args.includes(name));
}

/** The subcommands that entries run. */
const bridgeCommands = ['serve', 'hub'];

/** The entry in the client's format. */
function formatEntry(client: InstallableClient, entry: ClientEntry): ClientTable {
	const type = client === 'claude' || client === 'vscode' ? {type: 'url' in entry ? 'http' : 'stdio'} : {};
	if (!('url' in entry)) return {...type, command: entry.command, args: entry.args};
	const headers = {'X-Bridge-Token': entry.token};
	const name = client === 'codex' ? 'http_headers' : 'headers';
	return {...type, url: entry.url, ...(entry.token === undefined ? {} : {[name]: headers})};
}

/** The timeouts that the entry does not set yet. */
const timeoutsFor = (client: InstallableClient, entry: ClientEntry, before: ClientTable = {}): ClientTable =>
	client === 'codex' && 'hasTurns' in entry && entry.hasTurns
		? Object.fromEntries(Object.entries(turnTimeouts).filter(([key]) => !Object.hasOwn(before, key)))
		: {};

export type ClientTable = {readonly [key: string]: unknown};

/** Parses a client's file. */
export function parseClientFile(client: InstallableClient, text: string, file: string): ClientTable {
	if (text.trim() === '') return {};
	try {
		if (client === 'codex') return parseToml(text);
	} catch (error) {
		throw brokenFileError(file, String((error as Error).message).split('\n')[0] ?? '');
	}
	try {
		// The state file of Claude Code can be large and is plain JSON, so the faster parser is tried first.
		return JSON.parse(text);
	} catch {}
	const {value, issues} = parseConfigText(text, '.json');
	const [issue] = issues;
	if (issue) throw brokenFileError(file, `line ${issue.line}: ${issue.text}`);
	return value as ClientTable;
}

/** Separates the entry from the rest of the file. */
function splitEntry(
	whole: ClientTable,
	group: string,
	name: string,
): {own: ClientTable | undefined; rest: unknown} {
	const {[group]: servers = {}, ...others} = whole;
	const {[name]: own, ...rest} = servers as ClientTable;
	return {own: own as ClientTable | undefined, rest: toJsonValue({...others, [group]: rest})};
}

/** Converts to plain JSON values, since parsers create objects with different prototypes. */
export const toJsonValue = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

const brokenFileError = (file: string, reason: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`${file} cannot be parsed: ${reason}`,
		'Fix it first. Nothing was changed.',
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
		`${file} cannot be edited safely: ${reason}.`,
		`Nothing was changed. Add it yourself: ${path.join('.')} = ${JSON.stringify(value)}`,
		{file},
	);
