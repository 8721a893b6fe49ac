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
	/** Whether variables that Codex passes on if they are set are kept if they are not. */
	readonly keepsUnset?: boolean;
};

/** The servers of a client's file, as a file of bridge would have them. */
export type AdaptedClientFile = {
	readonly value: {readonly servers: {readonly [name: string]: unknown}};
	readonly warnings: readonly ConfigIssue[];
	/** What variables are expanded from: those of the environment and of the client. */
	readonly variables: EnvironmentVariables;
	/** The defaults of inputs that are not passwords, by the variable that an input is read from. */
	readonly defaults: EnvironmentVariables;
	/** The mistake of a variable without a value. */
	describeMissing(name: string): string;
	/** The place of a value in the client's file. */
	originalPath(path: ConfigPath): ConfigPath;
	/** The folder that paths are relative to. */
	readonly folder: string;
};

/** The mistake of a variable that Codex reads from the environment. Codex has no defaults for variables. */
const unsetCodexVariable = (name: string): string =>
	`The variable ${name} is not set. Set it, or write enabled = false for this server.`;

type FoundServer = {readonly path: ConfigPath; readonly entry: unknown; readonly isDisabled: boolean};

/** Reads the servers of a client's file. Other keys are ignored, and names that cannot be part of a URL changed, with a warning each. */
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
			return `The input ${printable(JSON.stringify(shortened(id)))} has no value. Set the environment variable ${name} to it.`;
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

/** The servers by name, those of a project before those of the user, and the paths of the keys that are ignored. */
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

/** Folders of a project, or of the user's home, in which a client looks for its file. */
const clientFolders: ReadonlySet<string> = new Set(['.vscode', '.cursor', '.codex']);

/** The project that a file belongs to, if it is in the folder of a client. */
function projectOf({file, home}: AdaptClientFileOptions): string | undefined {
	const folder = dirname(file);
	const above = dirname(folder);
	return clientFolders.has(basename(folder)) && resolveRealPath(above) !== resolveRealPath(home)
		? above
		: undefined;
}

/** The folder that relative paths start from: the project, the working directory for a file of the user, else the file's own. */
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

/** Editors start the servers of a project in its folder. */
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

/** The defaults of the inputs of VS Code, by the variable that an input is read from. */
function inputDefaults(
	value: unknown,
	isWanted: (input: Table) => boolean = () => true,
): EnvironmentVariables {
	const {inputs} = asTable(value);
	const wanted = (Array.isArray(inputs) ? inputs : []).map(asTable).filter(isWanted);
	const entries = wanted.map(({id, default: preset}) => {
		return [inputVariable(String(id)), typeof preset === 'string' ? preset : undefined];
	});
	return Object.fromEntries(entries);
}

/** Names and keys that one warning lists. */
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
		changed.map(([from, to]) => `${printable(JSON.stringify(shortened(from)))} is ${to}`),
	);
	return [{text: `Names of servers are changed, since they are part of URLs: ${list}.`}];
}
