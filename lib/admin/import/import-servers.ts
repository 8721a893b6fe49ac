import {existsSync} from 'node:fs';
import {basename, dirname, isAbsolute, resolve} from 'node:path';
import {isDeepStrictEqual} from 'node:util';
import {type AdaptedClientFile, adaptClientFile} from '../../config/client-formats/adapt-client-file.js';
import {asTable, detectClientFormat, isTable} from '../../config/client-formats/client-format.js';
import {readEnvFile} from '../../config/client-formats/env-file.js';
import {ENV_FILE} from '../../config/client-formats/json-server.js';
import {maxConfigFileBytes, parseConfigFile} from '../../config/client-formats/normalize-file.js';
import {type EnvironmentVariables, expandVariables} from '../../config/expand-variables.js';
import {type ConfigIssue, invalidFileError} from '../../config/issues.js';
import {extensionOf, readConfigText} from '../../config/read-file.js';
import {resolveService} from '../../config/resolve-service.js';
import {UniqueNames} from '../../config/server-names.js';
import {printable} from '../../util/printable.js';
import {bridgeArgs, wrappedCommand} from './bridge-command.js';
import {type ExtractedSecret, SecretVariables} from './secret-variables.js';

type Table = {readonly [key: string]: unknown};

type ImportServersOptions = {
	readonly cwd: string;
	readonly home: string;
	readonly environment: EnvironmentVariables;
	/** Whether to copy secrets instead of replacing them with variables. */
	readonly keepsSecrets: boolean;
};

/** The imported servers in the format of a bridge file. */
export type ImportedServers = {
	readonly servers: ReadonlyMap<string, Table>;
	readonly files: readonly string[];
	/** The secrets that were replaced with variables, or would be. */
	readonly extractedSecrets: readonly ExtractedSecret[];
	/** Other variables that must be set. */
	readonly variables: readonly string[];
	/** Sentences about changed or skipped servers. */
	readonly notes: readonly string[];
};

/** Imports the servers of all files that exist. A server that is equal in several files is imported once. */
export async function importServers(
	files: readonly string[],
	options: ImportServersOptions,
): Promise<ImportedServers> {
	const notes: string[] = [];
	const imported = new Map<string, PortableServer>();
	const uniqueNames = new UniqueNames();
	const existing = files.filter(file => existsSync(file));
	for (const file of existing) {
		const adapted = await adaptFile(file, options, notes);
		for (const [name, entry] of Object.entries(adapted?.value.servers ?? {})) {
			if (!adapted) continue;
			const server = await makePortable(name, entry, {file, adapted}, notes);
			if (!server || isDeepStrictEqual(imported.get(name), server)) continue;
			const uniqueName = uniqueNames.reserve(name);
			if (uniqueName !== name)
				notes.push(
					`${file}: the server ${name} is imported as ${uniqueName}, since the name is already in use.`,
				);
			imported.set(uniqueName, server);
		}
	}
	const secrets = new SecretVariables();
	const withVariables = new Map(
		[...imported].map(([name, {server, fromFile}]) => [name, secrets.replaceSecrets(name, server, fromFile)]),
	);
	const literal = new Map([...imported].map(([name, {server}]) => [name, server]));
	const servers = options.keepsSecrets ? literal : withVariables;
	const secretNames = new Set(secrets.extracted.map(({name}) => name));
	return {
		servers,
		files: existing,
		extractedSecrets: secrets.extracted,
		notes,
		variables: listVariables([...servers.values()]).filter(name => !secretNames.has(name)),
	};
}

async function adaptFile(
	file: string,
	{cwd, home, environment}: ImportServersOptions,
	notes: string[],
): Promise<AdaptedClientFile | undefined> {
	const {text} = await readConfigText(file, file, maxConfigFileBytes(file));
	if (text.trim() === '') return;
	const {value, issues} = parseConfigFile(file, text, extensionOf(file, file), cwd);
	if (issues.length > 0) throw invalidFileError(file, issues);
	const format = detectClientFormat(file, value);
	if (format === undefined) {
		notes.push(`${file} is skipped: it is a bridge configuration. Use it with --config.`);
		return;
	}
	const adapted = adaptClientFile(value, {file, format, cwd, home, environment, keepsUnset: true});
	for (const {text: warning} of adapted.warnings) notes.push(`${file}: ${warning}`);
	return adapted;
}

/** A server, and the names of the variables from its `envFile`. */
type PortableServer = {readonly server: Table; readonly fromFile: ReadonlySet<string>};

type ImportSource = {readonly file: string; readonly adapted: AdaptedClientFile};

/**
 * Makes a server independent of the folder it is in. Returns undefined with a note if it cannot be imported.
 */
async function makePortable(
	name: string,
	entry: unknown,
	source: ImportSource,
	notes: string[],
): Promise<PortableServer | undefined> {
	const {file, adapted} = source;
	const skip = (reason: string): undefined => {
		notes.push(`${file}: the server ${name} is skipped: ${reason}`);
	};
	if (!isTable(entry)) return skip('it is neither a command nor a url.');
	if (bridgeArgs(wordsOf(entry))?.[0] === 'hub') return skip('it is bridge hub itself.');
	const inner = withoutBridge(expandClientVariables(entry, adapted.variables, adapted.defaults));
	const {[ENV_FILE]: envFile, ...server} = inner;
	const envFileResult = envFile === undefined ? undefined : await readVariables(envFile, adapted);
	if (envFileResult && 'reason' in envFileResult)
		notes.push(`${file}: envFile of ${name} is ignored: ${envFileResult.reason}`);
	const ownVariables = asTable(server.env);
	const added =
		envFileResult && 'variables' in envFileResult ? escapeReferencesIn(envFileResult.variables) : {};
	const env = {...added, ...ownVariables};
	const fromFile = new Set(Object.keys(added).filter(key => !Object.hasOwn(ownVariables, key)));
	const whole = {
		...server,
		...startFolderOf(name, server, source),
		...(server.env !== undefined || Object.keys(env).length > 0 ? {env} : {}),
	};
	const [issue] = findIssues(name, whole, adapted);
	return issue ? skip(issue.text) : {server: whole, fromFile};
}

const wordsOf = ({command, args}: Table): string[] => [
	String(command ?? ''),
	...(Array.isArray(args) ? args.map(String) : []),
];

/** Undoes an earlier `bridge install --wrap`. */
function withoutBridge(server: Table): Table {
	const [command, ...args] = wrappedCommand(wordsOf(server)) ?? [];
	return command === undefined ? server : {...server, command, args};
}

/** Returns the working directory of a project's server, since its relative paths depend on it. */
function startFolderOf(name: string, {command, cwd}: Table, {file, adapted}: ImportSource): Table {
	if (command === undefined) return {};
	if (typeof cwd === 'string' && !cwd.includes('${') && !isAbsolute(cwd))
		return {cwd: resolve(adapted.folder, cwd)};
	if (cwd !== undefined) return {};
	const [root, project] = adapted.originalPath(['servers', name]);
	if (root === 'projects') return {cwd: String(project)};
	return basename(file) === '.mcp.json' ? {cwd: dirname(file)} : {};
}

/** Expands variables that only the client defines, and adds the defaults of inputs. */
function expandClientVariables(
	server: Table,
	variables: EnvironmentVariables,
	defaults: EnvironmentVariables,
): Table {
	const text = (value: string): string =>
		value.replace(/\$\$\{|\$\{(\w+)\}/g, (whole, name?: string) => {
			if (name === undefined) return whole;
			if (clientOnlyVariables.has(name)) return (variables[name] ?? '').replaceAll('${', () => '$${');
			const preset = Object.hasOwn(defaults, name) ? defaults[name] : undefined;
			return preset === undefined || preset.includes('}') ? whole : `$\{${name}:-${preset}}`;
		});
	return mapTexts(server, text) as Table;
}

const clientOnlyVariables: ReadonlySet<string> = new Set([
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

const readVariables = (envFile: unknown, {variables, folder}: AdaptedClientFile) =>
	readEnvFile(expandVariables(envFile, variables).value, folder);

const escapeReferencesIn = (variables: Table): Table =>
	mapTexts(variables, text => text.replaceAll('${', () => '$${')) as Table;

/** Returns the errors that bridge would report for a server once its variables are set. */
function findIssues(
	name: string,
	server: Table,
	{variables, folder}: AdaptedClientFile,
): readonly ConfigIssue[] {
	const names = listVariables([server]);
	const values = new Map(Object.entries(variables));
	const unset = Object.fromEntries(names.map(variable => [variable, values.get(variable) ?? 'x']));
	const {value} = expandVariables(server, unset);
	const hasVariableUrl = typeof server.url === 'string' && server.url.includes('${');
	const checked = hasVariableUrl ? {...(value as Table), url: 'http://localhost'} : value;
	return resolveService(name, checked, {path: [], folder}).issues.map(issue => ({
		...issue,
		text: printable(`${issue.path?.join('.') ?? ''}: ${issue.text}`.replace(/^: /, '')),
	}));
}

/** The unique names of the variables that must be set. */
function listVariables(servers: readonly Table[]): string[] {
	const names = new Set<string>();
	for (const server of servers)
		mapTexts(server, text => {
			const bare = text.replaceAll('$${', '');
			for (const [, name = ''] of bare.matchAll(/\$\{(?:env:)?([A-Za-z_]\w*)\}/g)) names.add(name);
			return text;
		});
	return [...names];
}
