import {BridgeError} from '../errors.js';
import {isObject, type JsonObject} from '../protocol/json.js';
import type {Connections} from './connections.js';
import type {Destinations} from './destinations.js';
import {checkLogPlace} from './log-place.js';
import type {Ports} from './ports.js';
import {ruleFrom, targetText} from './rule.js';

/** What the tools act on. */
export type Controlled = {
	readonly ports: Ports;
	readonly destinations: Destinations;
	readonly connections: Connections;
	/** The only folder that `start-logging` may write to, if there is one. */
	readonly logRoot?: string | undefined;
	/** Ends the program, once the answer to the call is out. */
	readonly shutDown: () => void;
};

type Tool = {
	readonly description: string;
	readonly inputSchema: JsonObject;
	/** Does it, and resolves to what there is to say about that. */
	readonly call: (args: JsonObject, controlled: Controlled) => Promise<string> | string;
};

const directory = {type: ['string', 'null'], description: 'A folder for log files; null is stdout'};
const localPort = {type: 'integer', description: 'The port to listen on, on 127.0.0.1'};

const tools: ReadonlyMap<string, Tool> = new Map<string, Tool>([
	[
		'start-logging',
		{
			description: 'Start logging to a destination: a directory, or STDOUT where directory is null or absent',
			inputSchema: {
				type: 'object',
				properties: {
					directory,
					filename_format: {
						type: 'string',
						description:
							'Names of the files, with %Y %m %d %H %M %S in UTC; rawprox_%Y-%m-%d-%H.ndjson by default',
					},
				},
			},
			call: startLogging,
		},
	],
	[
		'stop-logging',
		{
			description: 'Stop logging to one destination, or to all where directory is absent; null is STDOUT',
			inputSchema: {type: 'object', properties: {directory}},
			call: stopLogging,
		},
	],
	[
		'add-port-rule',
		{
			description: 'Add a rule that forwards connections to a local port to a port of another host',
			inputSchema: {
				type: 'object',
				properties: {
					local_port: localPort,
					target_host: {type: 'string', description: 'A name or an address'},
					target_port: {type: 'integer'},
				},
				required: ['local_port', 'target_host', 'target_port'],
			},
			call: addPortRule,
		},
	],
	[
		'remove-port-rule',
		{
			description: 'Remove a rule: its port takes no more connections. Those that are open stay open',
			inputSchema: {
				type: 'object',
				properties: {local_port: {type: 'integer', description: 'The port that the rule listens on'}},
				required: ['local_port'],
			},
			call: removePortRule,
		},
	],
	[
		'shutdown',
		{
			description: 'Shut down: end all connections, write the logs to their end, and exit',
			inputSchema: {type: 'object', properties: {}},
			call: (_args, {shutDown}) => {
				shutDown();
				return 'Shutting down';
			},
		},
	],
]);

/** What `tools/list` tells. */
export const toolList: readonly JsonObject[] = [...tools].map(([name, {description, inputSchema}]) => ({
	name,
	description,
	inputSchema,
}));

/** Calls a tool, and resolves to what there is to say about it. Rejects with why it could not be done. */
export async function callTool(name: unknown, args: unknown, controlled: Controlled): Promise<string> {
	const tool = typeof name === 'string' ? tools.get(name) : undefined;
	if (!tool) throw wrong(`Unknown tool: ${typeof name === 'string' ? name : 'no name'}`);
	if (args !== undefined && !isObject(args)) throw wrong('arguments has to be an object');
	return tool.call(args ?? {}, controlled);
}

async function startLogging(args: JsonObject, {destinations, logRoot}: Controlled): Promise<string> {
	const {directory: given = null, filename_format: format} = args;
	const folder = checkedFolder(given);
	if (format !== undefined && (typeof format !== 'string' || format === ''))
		throw wrong('filename_format has to be a string');
	if (folder !== null) await checkLogPlace(folder, format ?? destinations.format, logRoot);
	await destinations.start(folder, format);
	return `Logging started: ${folder ?? 'STDOUT'}`;
}

async function stopLogging(args: JsonObject, {destinations}: Controlled): Promise<string> {
	const stopped = await destinations.stop(
		args.directory === undefined ? undefined : checkedFolder(args.directory),
	);
	return stopped.length === 0 ? 'Nothing was being logged' : `Logging stopped: ${stopped.join(', ')}`;
}

async function addPortRule(args: JsonObject, {ports}: Controlled): Promise<string> {
	const rule = ruleFrom(args.local_port, args.target_host, args.target_port);
	if (typeof rule === 'string') throw wrong(rule);
	const {port} = await ports.add(rule);
	return `Port rule added: ${port} -> ${targetText(rule)}`;
}

function removePortRule({local_port: port}: JsonObject, {ports, connections}: Controlled): string {
	if (!Number.isInteger(port)) throw wrong('local_port has to be an integer');
	if (!ports.remove(Number(port))) throw wrong(`Port ${port} not found`);
	const open = connections.sizeOf(Number(port));
	return `Port rule removed: ${port}${open > 0 ? `; connections that stay open: ${open}` : ''}`;
}

function checkedFolder(given: unknown): string | null {
	if (given === null || (typeof given === 'string' && given !== '' && !given.includes('\0'))) return given;
	throw wrong('directory has to be a string that names a folder, or null');
}

const wrong = (message: string): BridgeError => new BridgeError('ERR_CONFIG_INVALID', message, '');
