import {homedir} from 'node:os';
import {join} from 'node:path';
import process from 'node:process';
import {isDeepStrictEqual} from 'node:util';
import {parse as parseToml} from 'smol-toml';
import {claudeState, codexHome, vscodeUserFile} from '../clients/files.js';
import {parseText} from '../config/parse.js';
import {BridgeError} from '../errors.js';
import {objectOf} from '../protocol/json.js';
import {withMember} from './json-edit.js';
import {withTable} from './toml-edit.js';

/** Programs whose configuration bridge can write itself into. */
export const installable = ['claude', 'codex', 'cursor', 'vscode'] as const;
export type Installable = (typeof installable)[number];

/** What is to be reached: a command to run, or a gateway. */
export type Entry =
	| {readonly command: string; readonly args: readonly string[]; readonly hasTurns?: boolean}
	| {readonly url: string; readonly token?: string};

export type Where = {readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly isForUser: boolean};

/** The file that a client reads. Codex has one for the user alone. */
export function fileOf(client: Installable, {cwd, env, isForUser}: Where): string {
	const places = {cwd, env, home: homedir(), platform: process.platform};
	if (client === 'codex') return join(codexHome(places), 'config.toml');
	if (client === 'claude') return isForUser ? claudeState(places) : join(cwd, '.mcp.json');
	if (client === 'vscode') return isForUser ? vscodeUserFile(places) : join(cwd, '.vscode', 'mcp.json');
	return join(isForUser ? homedir() : cwd, '.cursor', 'mcp.json');
}

/** The key that a client has its servers under. */
export const groupOf = (client: Installable): string =>
	new Map<Installable, string>([
		['codex', 'mcp_servers'],
		['vscode', 'servers'],
	]).get(client) ?? 'mcpServers';

/** What bridge decides in an entry. Whatever else is there, variables say, is the user's. */
const owned = ['type', 'command', 'args', 'url'];

/**
 * The time limits of an entry in Codex whose tools run turns. By default, Codex gives up a call after 300 s, as long as a
 * turn may take: it would not get the error that has the text so far, nor a turn that waits for earlier ones. bridge has a
 * limit for each turn itself.
 */
const turnLimits = {startup_timeout_sec: 60, tool_timeout_sec: 3600};

/** A client's file with the entry in it, and all else as it was. */
export function withEntry(
	client: Installable,
	text: string,
	name: string,
	entry: Entry,
	file: string,
): string {
	const path = [groupOf(client), name];
	const [group = ''] = path;
	const before = split(parsed(client, text, file), group, name);
	const value = {...entryFor(client, entry), ...limitsFor(client, entry, before.own)};
	const replaced = [...owned, ...Object.keys(value)];
	const kept = Object.entries(before.own ?? {}).filter(([key]) => !replaced.includes(key));
	const whole = {...value, ...Object.fromEntries(kept)};
	if (isDeepStrictEqual(plain(before.own), plain(whole))) return text;
	let changed: string;
	try {
		changed = client === 'codex' ? withTable(text, path, value, replaced) : withMember(text, path, whole);
	} catch (error) {
		throw unsafe(file, error instanceof Error ? error.message : String(error), path, value);
	}
	const after = split(parsed(client, changed, file), group, name);
	const isRight =
		isDeepStrictEqual(after.rest, before.rest) && isDeepStrictEqual(plain(after.own), plain(whole));
	if (!isRight) throw unsafe(file, 'what is there is written in a way of its own', path, value);
	return changed;
}

/**
 * The first of `NAME`, `NAME-2`, … that no other entry has. An entry with the same URL, or for the same command of bridge, is
 * the entry itself.
 */
export function freeName(
	client: Installable,
	text: string,
	{file, base, entry}: {readonly file: string; readonly base: string; readonly entry: Entry},
): string {
	const {[groupOf(client)]: group} = parsed(client, text, file);
	const servers = objectOf(group);
	const isOther = (name: string): boolean =>
		Object.hasOwn(servers, name) && !isSame(entry, objectOf(servers[name]));
	for (let count = 1; ; count++) {
		const name = count === 1 ? base : `${base}-${count}`;
		if (!isOther(name)) return name;
	}
}

function isSame(entry: Entry, {url, args}: Table): boolean {
	if ('url' in entry) return url === entry.url;
	return (
		Array.isArray(args) && commandsOfBridge.some(name => args.includes(name) && entry.args.includes(name))
	);
}

/** The commands that entries run. */
const commandsOfBridge = ['serve', 'hub'];

/** The entry as a client writes it. */
function entryFor(client: Installable, entry: Entry): Table {
	const type = client === 'claude' || client === 'vscode' ? {type: 'url' in entry ? 'http' : 'stdio'} : {};
	if (!('url' in entry)) return {...type, command: entry.command, args: entry.args};
	const headers = {'X-Bridge-Token': entry.token};
	const name = client === 'codex' ? 'http_headers' : 'headers';
	return {...type, url: entry.url, ...(entry.token === undefined ? {} : {[name]: headers})};
}

/** Limits that the file does not have yet. */
const limitsFor = (client: Installable, entry: Entry, before: Table = {}): Table =>
	client === 'codex' && 'hasTurns' in entry && entry.hasTurns
		? Object.fromEntries(Object.entries(turnLimits).filter(([key]) => !Object.hasOwn(before, key)))
		: {};

export type Table = {readonly [key: string]: unknown};

/** The values of a client's file. */
export function parsed(client: Installable, text: string, file: string): Table {
	if (text.trim() === '') return {};
	try {
		if (client === 'codex') return parseToml(text);
	} catch (error) {
		throw broken(file, String((error as Error).message).split('\n')[0] ?? '');
	}
	try {
		// The state of Claude Code may be long, and JSON without comments.
		return JSON.parse(text);
	} catch {}
	const {value, mistakes} = parseText(text, '.json');
	const [mistake] = mistakes;
	if (mistake) throw broken(file, `line ${mistake.line}: ${mistake.text}`);
	return value as Table;
}

/** The entry, and all that is not it. */
function split(whole: Table, group: string, name: string): {own: Table | undefined; rest: unknown} {
	const {[group]: servers = {}, ...others} = whole;
	const {[name]: own, ...rest} = servers as Table;
	return {own: own as Table | undefined, rest: plain({...others, [group]: rest})};
}

/** A value as JSON has it: parsers make objects of various prototypes. */
export const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

const broken = (file: string, reason: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`${file} is broken: ${reason}`,
		'Mend it first; nothing was changed.',
		{file},
	);

export const unsafe = (file: string, reason: string, path: readonly string[], value: object): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`${file} cannot be changed without a risk: ${reason}.`,
		`Nothing was changed. Write it there yourself: ${path.join('.')} = ${JSON.stringify(value)}`,
		{file},
	);
