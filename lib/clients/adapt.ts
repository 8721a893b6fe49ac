import {basename, dirname, sep} from 'node:path';
import {missing, type Variables} from '../config/expand.js';
import {realPath} from '../config/find.js';
import {type Mistake, type Path, pathText} from '../config/mistakes.js';
import {serverNames} from '../config/names.js';
import {printable, shortened} from '../printable.js';
import {projectPaths} from './claude-state.js';
import {fromCodex, type Translated} from './codex-server.js';
import {fromJson, type Inputs, inputVariable} from './json-server.js';
import {CLAUDE_DESKTOP, CLAUDE_STATE, type ClientFormat, isTable, tableOf} from './kind.js';

type Table = {readonly [key: string]: unknown};

export type AdaptOptions = {
	readonly file: string;
	readonly format: ClientFormat;
	readonly cwd: string;
	readonly home: string;
	readonly environment: Variables;
	/** Whether variables that Codex passes on if they are set are kept if they are not. */
	readonly keepsUnset?: boolean;
};

/** The servers of a client's file, as a file of bridge would have them. */
export type Adapted = {
	readonly value: {readonly servers: {readonly [name: string]: unknown}};
	readonly warnings: readonly Mistake[];
	/** What variables are expanded from: those of the environment and of the client. */
	readonly variables: Variables;
	/** The defaults of inputs that are not passwords, by the variable that an input is read from. */
	readonly defaults: Variables;
	/** The mistake of a variable without a value. */
	missing(name: string): string;
	/** The place of a value in the client's file. */
	original(path: Path): Path;
	/** The folder that paths are relative to. */
	readonly folder: string;
};

/** The mistake of a variable that Codex reads from the environment. Codex has no defaults for variables. */
const unset = (name: string): string =>
	`The variable ${name} is not set. Set it, or write enabled = false for this server.`;

type Found = {readonly path: Path; readonly given: unknown; readonly isDisabled: boolean};

/** Reads the servers of a client's file. Other keys are ignored, and names that cannot be part of a URL changed, with a warning each. */
export function adapt(value: unknown, options: AdaptOptions): Adapted {
	const inputs: Inputs = new Map();
	const {servers: found, ignored} = serversIn(value, options);
	const names = serverNames([...found.keys()]);
	const servers = new Map<
		string,
		{readonly server: unknown; readonly path: Path; readonly keys: Translated['keys']}
	>();
	const folder = folderOf(options);
	for (const [name, {path, given, isDisabled}] of found) {
		const {
			server,
			keys,
			ignored: unused,
		} = isTable(given)
			? translated(given, options, inputs)
			: {server: given, keys: new Map<string, string>(), ignored: []};
		for (const key of unused) ignored.push([...path, key]);
		const placed = isTable(server)
			? {...startedIn(server, options), ...(isDisabled ? {enabled: false} : {})}
			: server;
		servers.set(names.get(name) ?? name, {server: placed, path, keys});
	}
	return {
		value: {servers: Object.fromEntries([...servers].map(([name, {server}]) => [name, server]))},
		warnings: [...renamed(names), ...ignoredKeys(ignored)],
		variables: {...clientVariables(folder, options), ...inputsOf(value), ...options.environment},
		defaults: inputsOf(value, input => input.password !== true),
		missing: name => {
			const id = inputs.get(name);
			if (id === undefined) return options.format === 'codex' ? unset(name) : missing(name);
			return `The input ${printable(JSON.stringify(shortened(id)))} has no value. Set the environment variable ${name} to it.`;
		},
		original([root, name, key, ...rest]) {
			const server = servers.get(String(name));
			if (root !== 'servers' || !server) return [root, name, key, ...rest].filter(each => each !== undefined);
			const whole = server.keys.get([key, ...rest].join('.'));
			if (whole !== undefined) return [...server.path, whole];
			return [...server.path, ...(key === undefined ? [] : [server.keys.get(String(key)) ?? key]), ...rest];
		},
		folder,
	};
}

function translated(
	given: Table,
	{format, environment, keepsUnset = false}: AdaptOptions,
	inputs: Inputs,
): Translated {
	if (format !== 'codex') return fromJson(given, inputs);
	return fromCodex(given, name => keepsUnset || Object.hasOwn(environment, name));
}

/** The servers by name, those of a project before those of the user, and the paths of the keys that are ignored. */
function serversIn(
	value: unknown,
	{format, cwd}: AdaptOptions,
): {servers: Map<string, Found>; ignored: Path[]} {
	const whole = tableOf(value);
	const groups = format === 'codex' ? ['mcp_servers'] : ['mcpServers', 'servers'];
	const project = format === 'json' ? projectIn(whole, cwd) : undefined;
	const disabled = tableOf(project?.value).disabledMcpServers;
	const servers = new Map<string, Found>();
	const add = (path: Path, given: unknown): void => {
		for (const [name, server] of Object.entries(tableOf(given)))
			servers.set(name, {
				path: [...path, name],
				given: server,
				isDisabled: Array.isArray(disabled) && disabled.includes(name),
			});
	};
	for (const group of groups) add([group], whole[group]);
	if (project) add([...project.path, 'mcpServers'], tableOf(project.value).mcpServers);
	const used = [...groups, '$schema', 'inputs', ...(format === 'json' ? ['projects'] : [])];
	return {
		servers,
		ignored: Object.keys(whole)
			.filter(key => !used.includes(key))
			.map(key => [key]),
	};
}

function projectIn({projects}: Table, cwd: string): {path: Path; value: unknown} | undefined {
	const key = projectPaths(cwd).find(path => Object.hasOwn(tableOf(projects), path));
	return key === undefined ? undefined : {path: ['projects', key], value: tableOf(projects)[key]};
}

/** Folders of a project, or of the user's home, in which a client looks for its file. */
const ofClients: ReadonlySet<string> = new Set(['.vscode', '.cursor', '.codex']);

/** The project that a file belongs to, if it is in the folder of a client. */
function projectOf({file, home}: AdaptOptions): string | undefined {
	const folder = dirname(file);
	const above = dirname(folder);
	return ofClients.has(basename(folder)) && realPath(above) !== realPath(home) ? above : undefined;
}

/** The folder that relative paths start from: the project, the working directory for a file of the user, else the file's own. */
function folderOf(options: AdaptOptions): string {
	const {file, cwd} = options;
	const [name, folder] = [basename(file), basename(dirname(file))];
	const isOfUser =
		ofClients.has(folder) || folder === 'User' || name === CLAUDE_STATE || name === CLAUDE_DESKTOP;
	return projectOf(options) ?? (isOfUser ? cwd : dirname(file));
}

/** Editors start the servers of a project in its folder. */
function startedIn(server: Table, options: AdaptOptions): Table {
	const project = projectOf(options);
	const isPlaced = project === undefined || server.cwd !== undefined || typeof server.command !== 'string';
	return isPlaced ? server : {...server, cwd: project};
}

const clientVariables = (folder: string, {home}: AdaptOptions): Variables => ({
	workspaceFolder: folder,
	workspaceFolderBasename: basename(folder),
	userHome: home,
	pathSeparator: sep,
});

/** The defaults of the inputs of VS Code, by the variable that an input is read from. */
function inputsOf(value: unknown, isWanted: (input: Table) => boolean = () => true): Variables {
	const {inputs} = tableOf(value);
	const wanted = (Array.isArray(inputs) ? inputs : []).map(tableOf).filter(isWanted);
	const entries = wanted.map(({id, default: preset}) => {
		return [inputVariable(String(id)), typeof preset === 'string' ? preset : undefined];
	});
	return Object.fromEntries(entries);
}

/** Names and keys that one warning lists. */
const MAX_LISTED = 5;

const listed = (items: readonly string[]): string =>
	`${items.slice(0, MAX_LISTED).join(', ')}${items.length > MAX_LISTED ? ` and ${items.length - MAX_LISTED} more` : ''}`;

function ignoredKeys(paths: readonly Path[]): Mistake[] {
	if (paths.length === 0) return [];
	return [{text: `Keys that bridge does not use are ignored: ${listed(paths.map(pathText))}.`}];
}

function renamed(names: ReadonlyMap<string, string>): Mistake[] {
	const changed = [...names].filter(([from, to]) => from !== to);
	if (changed.length === 0) return [];
	const list = listed(changed.map(([from, to]) => `${printable(JSON.stringify(shortened(from)))} is ${to}`));
	return [{text: `Names of servers are changed, since they are part of URLs: ${list}.`}];
}
