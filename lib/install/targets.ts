import {homedir} from 'node:os';
import {join} from 'node:path';
import {isDeepStrictEqual} from 'node:util';
import {parse as parseToml} from 'smol-toml';
import {parseText} from '../config/parse.js';
import {BridgeError} from '../errors.js';
import {withMember} from './json-edit.js';
import {withTable} from './toml-edit.js';

/** Programs whose configuration bridge can write itself into. */
export const installable = ['claude', 'codex', 'cursor'] as const;
export type Installable = (typeof installable)[number];

/** What is to be reached: a command to run, or a gateway. */
export type Entry =
	| {readonly command: string; readonly args: readonly string[]}
	| {readonly url: string; readonly token?: string};

export type Where = {readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly isForUser: boolean};

/** The file that a client reads. Codex has one for the user alone. */
export function fileOf(client: Installable, {cwd, env, isForUser}: Where): string {
	if (client === 'codex') return join(env.CODEX_HOME?.trim() || join(homedir(), '.codex'), 'config.toml');
	if (client === 'claude') return isForUser ? join(homedir(), '.claude.json') : join(cwd, '.mcp.json');
	return join(isForUser ? homedir() : cwd, '.cursor', 'mcp.json');
}

/** What bridge decides in an entry. Whatever else is there, variables say, is the user's. */
const owned = ['type', 'command', 'args', 'url'];

/** A client's file with the entry in it, and all else as it was. */
export function withEntry(
	client: Installable,
	text: string,
	name: string,
	entry: Entry,
	file: string,
): string {
	const path = [client === 'codex' ? 'mcp_servers' : 'mcpServers', name];
	const [group = ''] = path;
	const value = entryFor(client, entry);
	const replaced = [...owned, ...Object.keys(value)];
	const before = split(parsed(client, text, file), group, name);
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

/** The entry as a client writes it. */
function entryFor(client: Installable, entry: Entry): Table {
	const type = client === 'claude' ? {type: 'url' in entry ? 'http' : 'stdio'} : {};
	if (!('url' in entry)) return {...type, ...entry};
	const headers = {'X-Bridge-Token': entry.token};
	const name = client === 'codex' ? 'http_headers' : 'headers';
	return {...type, url: entry.url, ...(entry.token === undefined ? {} : {[name]: headers})};
}

type Table = {readonly [key: string]: unknown};

function parsed(client: Installable, text: string, file: string): Table {
	if (text.trim() === '') return {};
	try {
		if (client === 'codex') return parseToml(text);
	} catch (error) {
		throw broken(file, String((error as Error).message).split('\n')[0] ?? '');
	}
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

/** Parsers make objects of various prototypes. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

const broken = (file: string, reason: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`${file} is broken: ${reason}`,
		'Mend it first; nothing was changed.',
		{file},
	);

const unsafe = (file: string, reason: string, path: readonly string[], value: object): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`${file} cannot be changed without a risk: ${reason}.`,
		`Nothing was changed. Write it there yourself: ${path.join('.')} = ${JSON.stringify(value)}`,
		{file},
	);
