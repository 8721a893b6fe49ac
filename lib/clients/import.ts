import {existsSync} from 'node:fs';
import {basename, dirname, isAbsolute, resolve} from 'node:path';
import {isDeepStrictEqual} from 'node:util';
import {expand, type Variables} from '../config/expand.js';
import {invalidFile, type Mistake} from '../config/mistakes.js';
import {FreeNames} from '../config/names.js';
import {endingOf, readText} from '../config/read.js';
import {resolveService} from '../config/service.js';
import {printable} from '../printable.js';
import {type Adapted, adapt} from './adapt.js';
import {readEnvFile} from './env-file.js';
import {ENV_FILE} from './json-server.js';
import {clientFormat, isTable, tableOf} from './kind.js';
import {maxBytesOf, parseFile} from './understand.js';
import {type HiddenSecret, SecretVariables} from './without-secrets.js';
import {ownArgs, wrappedCommand} from './wrapped.js';

type Table = {readonly [key: string]: unknown};

export type ImportOptions = {
	readonly cwd: string;
	readonly home: string;
	readonly environment: Variables;
	/** Whether secrets are copied rather than made variables. */
	readonly keepsSecrets: boolean;
};

/** The servers of clients, as a file of bridge has them. */
export type Imported = {
	readonly servers: ReadonlyMap<string, Table>;
	/** The files that were read. */
	readonly files: readonly string[];
	/** Secrets that are variables now, or would be. */
	readonly hidden: readonly HiddenSecret[];
	/** Other variables that have to be set. */
	readonly variables: readonly string[];
	/** Sentences about what was changed or left out. */
	readonly notes: readonly string[];
};

/** Reads the servers of those files that exist. Equal servers of several files are imported once. */
export async function importServers(files: readonly string[], options: ImportOptions): Promise<Imported> {
	const notes: string[] = [];
	const found = new Map<string, Portable>();
	const free = new FreeNames();
	const read = files.filter(file => existsSync(file));
	for (const file of read) {
		const adapted = await adaptedFile(file, options, notes);
		for (const [name, given] of Object.entries(adapted?.value.servers ?? {})) {
			if (!adapted) continue;
			const server = await portable(name, given, {file, adapted}, notes);
			if (!server || isDeepStrictEqual(found.get(name), server)) continue;
			const own = free.take(name);
			if (own !== name) notes.push(`${file}: the server ${name} is ${own}, since the name is taken.`);
			found.set(own, server);
		}
	}
	const secrets = new SecretVariables();
	const without = new Map(
		[...found].map(([name, {server, fromFile}]) => [name, secrets.without(name, server, fromFile)]),
	);
	const literal = new Map([...found].map(([name, {server}]) => [name, server]));
	const servers = options.keepsSecrets ? literal : without;
	const hidden = new Set(secrets.hidden.map(({name}) => name));
	return {
		servers,
		files: read,
		hidden: secrets.hidden,
		notes,
		variables: variablesIn([...servers.values()]).filter(name => !hidden.has(name)),
	};
}

async function adaptedFile(
	file: string,
	{cwd, home, environment}: ImportOptions,
	notes: string[],
): Promise<Adapted | undefined> {
	const {text} = await readText(file, file, maxBytesOf(file));
	if (text.trim() === '') return;
	const {value, mistakes} = parseFile(file, text, endingOf(file, file), cwd);
	if (mistakes.length > 0) throw invalidFile(file, mistakes);
	const format = clientFormat(file, value);
	if (format === undefined) {
		notes.push(`${file} is not read: it is a configuration of bridge. Use it with --config.`);
		return;
	}
	const adapted = adapt(value, {file, format, cwd, home, environment, keepsUnset: true});
	for (const {text: warning} of adapted.warnings) notes.push(`${file}: ${warning}`);
	return adapted;
}

/** A server, and the names of its variables that are from its `envFile`. */
type Portable = {readonly server: Table; readonly fromFile: ReadonlySet<string>};

type From = {readonly file: string; readonly adapted: Adapted};

/** A server that means the same in any folder; undefined, with a note, where it cannot be imported. */
async function portable(
	name: string,
	given: unknown,
	from: From,
	notes: string[],
): Promise<Portable | undefined> {
	const {file, adapted} = from;
	const leave = (reason: string): undefined => {
		notes.push(`${file}: the server ${name} is left out: ${reason}`);
	};
	if (!isTable(given)) return leave('it is neither a command nor a url.');
	if (ownArgs(wordsOf(given))?.[0] === 'hub') return leave('it is bridge hub itself.');
	const inner = unwrapped(settled(given, adapted.variables, adapted.defaults));
	const {[ENV_FILE]: envFile, ...server} = inner;
	const read = envFile === undefined ? undefined : await variablesOf(envFile, adapted);
	if (read && 'reason' in read) notes.push(`${file}: envFile of ${name} is ignored: ${read.reason}`);
	const own = tableOf(server.env);
	const added = read && 'variables' in read ? escaped(read.variables) : {};
	const env = {...added, ...own};
	const fromFile = new Set(Object.keys(added).filter(key => !Object.hasOwn(own, key)));
	const whole = {
		...server,
		...placeOf(name, server, from),
		...(server.env !== undefined || Object.keys(env).length > 0 ? {env} : {}),
	};
	const [mistake] = mistakesOf(name, whole, adapted);
	return mistake ? leave(mistake.text) : {server: whole, fromFile};
}

const wordsOf = ({command, args}: Table): string[] => [
	String(command ?? ''),
	...(Array.isArray(args) ? args.map(String) : []),
];

/** A server that an earlier `bridge install --wrap` put bridge in front of, without that. */
function unwrapped(server: Table): Table {
	const [command, ...args] = wrappedCommand(wordsOf(server)) ?? [];
	return command === undefined ? server : {...server, command, args};
}

/** The folder to start a server of a project in. Elsewhere its relative paths would name other files. */
function placeOf(name: string, {command, cwd}: Table, {file, adapted}: From): Table {
	if (command === undefined) return {};
	if (typeof cwd === 'string' && !cwd.includes('${') && !isAbsolute(cwd))
		return {cwd: resolve(adapted.folder, cwd)};
	if (cwd !== undefined) return {};
	const [root, project] = adapted.original(['servers', name]);
	if (root === 'projects') return {cwd: String(project)};
	return basename(file) === '.mcp.json' ? {cwd: dirname(file)} : {};
}

/** Values with the variables of the client expanded, which bridge does not have, and with the defaults of inputs. */
function settled(server: Table, variables: Variables, defaults: Variables): Table {
	const text = (value: string): string =>
		value.replace(/\$\$\{|\$\{(\w+)\}/g, (whole, name?: string) => {
			if (name === undefined) return whole;
			if (clientOnly.has(name)) return (variables[name] ?? '').replaceAll('${', () => '$${');
			const preset = Object.hasOwn(defaults, name) ? defaults[name] : undefined;
			return preset === undefined || preset.includes('}') ? whole : `$\{${name}:-${preset}}`;
		});
	return mapTexts(server, text) as Table;
}

const clientOnly: ReadonlySet<string> = new Set([
	'workspaceFolder',
	'workspaceFolderBasename',
	'userHome',
	'pathSeparator',
]);

function mapTexts(value: unknown, change: (text: string) => string): unknown {
	if (typeof value === 'string') return change(value);
	if (Array.isArray(value)) return value.map(item => mapTexts(item, change));
	if (!isTable(value)) return value;
	return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, change)]));
}

const variablesOf = (envFile: unknown, {variables, folder}: Adapted) =>
	readEnvFile(expand(envFile, variables).value, folder);

const escaped = (variables: Table): Table =>
	mapTexts(variables, text => text.replaceAll('${', () => '$${')) as Table;

/** What bridge would reject in a server once its variables are set. */
function mistakesOf(name: string, server: Table, {variables, folder}: Adapted): readonly Mistake[] {
	const names = variablesIn([server]);
	const held = new Map(Object.entries(variables));
	const unset = Object.fromEntries(names.map(variable => [variable, held.get(variable) ?? 'x']));
	const {value} = expand(server, unset);
	const hasVariableUrl = typeof server.url === 'string' && server.url.includes('${');
	const checked = hasVariableUrl ? {...(value as Table), url: 'http://localhost'} : value;
	return resolveService(name, checked, {path: [], folder}).mistakes.map(mistake => ({
		...mistake,
		text: printable(`${mistake.path?.join('.') ?? ''}: ${mistake.text}`.replace(/^: /, '')),
	}));
}

/** The names of the variables that have to be set, once each. */
function variablesIn(servers: readonly Table[]): string[] {
	const names = new Set<string>();
	for (const server of servers)
		mapTexts(server, text => {
			const bare = text.replaceAll('$${', '');
			for (const [, name = ''] of bare.matchAll(/\$\{(?:env:)?([A-Za-z_]\w*)\}/g)) names.add(name);
			return text;
		});
	return [...names];
}
