import {basename, dirname, sep} from 'node:path';
import {printable, shortened} from '../../util/printable.js';
import {type EnvironmentVariables, missingVariable} from '../expand-variables.js';
import {resolveRealPath} from '../find-file.js';
import {type ConfigIssue, type ConfigPath, formatPath} from '../issues.js';
import {assignServerNames} from '../server-names.js';
import {projectPaths} from './claude-state.js';
import {
	asTable,
	CLAUDE_DESKTOP_FILE,
	CLAUDE_STATE_FILE,
	type ClientFormat,
	isTable,
} from './client-format.js';
import {type TranslatedServer, translateCodexServer} from './codex-server.js';
import {type ClientInputs, inputVariable, translateJsonServer} from './json-server.js';

type Table = {readonly [key: string]: unknown};

export type AdaptClientFileOptions = {
	readonly file: string;
	readonly format: ClientFormat;
	readonly cwd: string;
	readonly home: string;
	readonly environment: EnvironmentVariables;
	/** Whether to keep `env_vars` entries of Codex whose variables are not set. */
	readonly keepsUnset?: boolean;
};

/** The servers of a client's file, in the format of a bridge file. */
export type AdaptedClientFile = {
	readonly value: {readonly servers: {readonly [name: string]: unknown}};
	readonly warnings: readonly ConfigIssue[];
	/** The variables available for expansion: those of the environment and those that the client defines. */
	readonly variables: EnvironmentVariables;
	/** The defaults of inputs that are not passwords, by the name of the input's variable. */
	readonly defaults: EnvironmentVariables;
	/** Returns the message for a variable without a value. */
	describeMissing(name: string): string;
	/** Maps a path in `value` to the path in the client's file. */
	originalPath(path: ConfigPath): ConfigPath;
	/** The folder that relative paths are resolved against. */
	readonly folder: string;
};

/** The message for an unset variable that Codex reads from the environment. Codex has no default syntax. */
const unsetCodexVariable = (name: string): string =>
	`The variable ${name} is not set. Set it, or write enabled = false for this server.`;

type FoundServer = {readonly path: ConfigPath; readonly entry: unknown; readonly isDisabled: boolean};

/**
 * Reads the servers of a client's file. Other keys are ignored and names that are invalid in URLs are
 * changed, each with a warning.
 */
export function adaptClientFile(value: unknown, options: AdaptClientFileOptions): AdaptedClientFile {
	const inputs: ClientInputs = new Map();
	const {servers: foundServers, ignored} = findServers(value, options);
	const names = assignServerNames([...foundServers.keys()]);
	const servers = new Map<
		string,
		{readonly server: unknown; readonly path: ConfigPath; readonly keys: TranslatedServer['keys']}
	>();
	const folder = baseFolderOf(options);
	for (const [name, {path, entry, isDisabled}] of foundServers) {
		const {
			server,
			keys,
			ignored: unusedKeys,
		} = isTable(entry)
			? translateServer(entry, options, inputs)
			: {server: entry, keys: new Map<string, string>(), ignored: []};
		for (const key of unusedKeys) ignored.push([...path, key]);
		const serverInFolder = isTable(server)
			? {...withProjectFolder(server, options), ...(isDisabled ? {enabled: false} : {})}
			: server;
		servers.set(names.get(name) ?? name, {server: serverInFolder, path, keys});
	}
	return {
		value: {servers: Object.fromEntries([...servers].map(([name, {server}]) => [name, server]))},
		warnings: [...renamedWarnings(names), ...ignoredKeyWarnings(ignored)],
		variables: {...clientVariables(folder, options), ...inputDefaults(value), ...options.environment},
		defaults: inputDefaults(value, input => input.password !== true),
		describeMissing: name => {
			const id = inputs.get(name);
			if (id === undefined)
				return options.format === 'codex' ? unsetCodexVariable(name) : missingVariable(name);
			return `The input ${printable(JSON.stringify(shortened(id)))} has no value. Set the environment variable ${name}.`;
		},
		originalPath([root, name, key, ...rest]) {
			const server = servers.get(String(name));
			if (root !== 'servers' || !server) return [root, name, key, ...rest].filter(each => each !== undefined);
			const whole = server.keys.get([key, ...rest].join('.'));
			if (whole !== undefined) return [...server.path, whole];
			return [...server.path, ...(key === undefined ? [] : [server.keys.get(String(key)) ?? key]), ...rest];
		},
		folder,
	};
}

function translateServer(
	entry: Table,
	{format, environment, keepsUnset = false}: AdaptClientFileOptions,
	inputs: ClientInputs,
): TranslatedServer {
	if (format !== 'codex') return translateJsonServer(entry, inputs);
	return translateCodexServer(entry, name => keepsUnset || Object.hasOwn(environment, name));
}

/**
 * Finds the servers by name, and the ignored keys. Servers of the current project override those of the user.
 */
function findServers(
	value: unknown,
	{format, cwd}: AdaptClientFileOptions,
): {servers: Map<string, FoundServer>; ignored: ConfigPath[]} {
	const whole = asTable(value);
	const groups = format === 'codex' ? ['mcp_servers'] : ['mcpServers', 'servers'];
	const project = format === 'json' ? findProject(whole, cwd) : undefined;
	const disabled = asTable(project?.value).disabledMcpServers;
	const servers = new Map<string, FoundServer>();
	const add = (path: ConfigPath, table: unknown): void => {
		for (const [name, server] of Object.entries(asTable(table)))
			servers.set(name, {
				path: [...path, name],
				entry: server,
				isDisabled: Array.isArray(disabled) && disabled.includes(name),
			});
	};
	for (const group of groups) add([group], whole[group]);
	if (project) add([...project.path, 'mcpServers'], asTable(project.value).mcpServers);
	const used = [...groups, '$schema', 'inputs', ...(format === 'json' ? ['projects'] : [])];
	return {
		servers,
		ignored: Object.keys(whole)
			.filter(key => !used.includes(key))
			.map(key => [key]),
	};
}

function findProject({projects}: Table, cwd: string): {path: ConfigPath; value: unknown} | undefined {
	const key = projectPaths(cwd).find(path => Object.hasOwn(asTable(projects), path));
	return key === undefined ? undefined : {path: ['projects', key], value: asTable(projects)[key]};
}

/** The folders of a project or a home folder in which clients keep their files. */
const clientFolders: ReadonlySet<string> = new Set(['.vscode', '.cursor', '.codex']);

/** The project of a file that is in a client's folder, such as `.vscode`. */
function projectOf({file, home}: AdaptClientFileOptions): string | undefined {
	const folder = dirname(file);
	const above = dirname(folder);
	return clientFolders.has(basename(folder)) && resolveRealPath(above) !== resolveRealPath(home)
		? above
		: undefined;
}

/**
 * The base of relative paths: the project, the working directory for a user's file, or the file's own folder.
 */
function baseFolderOf(options: AdaptClientFileOptions): string {
	const {file, cwd} = options;
	const [name, folder] = [basename(file), basename(dirname(file))];
	const isOfUser =
		clientFolders.has(folder) ||
		folder === 'User' ||
		name === CLAUDE_STATE_FILE ||
		name === CLAUDE_DESKTOP_FILE;
	return projectOf(options) ?? (isOfUser ? cwd : dirname(file));
}

/** Sets the project as the working directory, since editors start a project's servers there. */
function withProjectFolder(server: Table, options: AdaptClientFileOptions): Table {
	const project = projectOf(options);
	const hasFolder = project === undefined || server.cwd !== undefined || typeof server.command !== 'string';
	return hasFolder ? server : {...server, cwd: project};
}

const clientVariables = (folder: string, {home}: AdaptClientFileOptions): EnvironmentVariables => ({
	workspaceFolder: folder,
	workspaceFolderBasename: basename(folder),
	userHome: home,
	pathSeparator: sep,
});

/** The defaults of VS Code inputs, by the name of the input's variable. */
function inputDefaults(
	value: unknown,
	isIncluded: (input: Table) => boolean = () => true,
): EnvironmentVariables {
	const {inputs} = asTable(value);
	const included = (Array.isArray(inputs) ? inputs : []).map(asTable).filter(isIncluded);
	const entries = included.map(({id, default: preset}) => {
		return [inputVariable(String(id)), typeof preset === 'string' ? preset : undefined];
	});
	return Object.fromEntries(entries);
}

/** The number of names or keys that one warning lists. */
const MAX_LISTED = 5;

const listText = (items: readonly string[]): string =>
	`${items.slice(0, MAX_LISTED).join(', ')}${items.length > MAX_LISTED ? ` and ${items.length - MAX_LISTED} more` : ''}`;

function ignoredKeyWarnings(paths: readonly ConfigPath[]): ConfigIssue[] {
	if (paths.length === 0) return [];
	return [{text: `Keys that bridge does not use are ignored: ${listText(paths.map(formatPath))}.`}];
}

function renamedWarnings(names: ReadonlyMap<string, string>): ConfigIssue[] {
	const changed = [...names].filter(([from, to]) => from !== to);
	if (changed.length === 0) return [];
	const list = listText(
		changed.map(([from, to]) => `${printable(JSON.stringify(shortened(from)))} becomes ${to}`),
	);
	return [{text: `Server names were changed to be valid in URLs: ${list}.`}];
}
