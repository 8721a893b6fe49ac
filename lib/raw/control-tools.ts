import {BridgeError} from '../core/errors.js';
import {isObject, type JsonObject} from '../util/json.js';
import {checkLogDestination} from './check-log-destination.js';
import type {RawConnections} from './connections.js';
import type {LogDestinations} from './log-destinations.js';
import {createPortRule, ruleTargetText} from './port-rule.js';
import type {PortRules} from './port-rules.js';

export type ControlTargets = {
	readonly ports: PortRules;
	readonly destinations: LogDestinations;
	readonly connections: RawConnections;
	/** The only folder that `start-logging` may write to, if there is one. */
	readonly logRoot?: string | undefined;
	/** Shuts bridge down once the response to the call is sent. */
	readonly shutDown: () => void;
};

type ControlTool = {
	readonly description: string;
	readonly inputSchema: JsonObject;
	/** Runs the tool and resolves to the text of its result. */
	readonly call: (args: JsonObject, targets: ControlTargets) => Promise<string> | string;
};

const directory = {type: ['string', 'null'], description: 'Folder for the log files; null is stdout'};
const localPort = {type: 'integer', description: 'The port to listen on, on 127.0.0.1'};

const controlTools: ReadonlyMap<string, ControlTool> = new Map<string, ControlTool>([
	[
		'start-logging',
		{
			description: 'Start logging to a destination: a directory, or STDOUT if directory is null or absent',
			inputSchema: {
				type: 'object',
				properties: {
					directory,
					filename_format: {
						type: 'string',
						description:
							'Format of the file names, with %Y %m %d %H %M %S in UTC; rawprox_%Y-%m-%d-%H.ndjson by default',
					},
				},
			},
			call: startLogging,
		},
	],
	[
		'stop-logging',
		{
			description: 'Stop logging to one destination, or to all if directory is absent; null is STDOUT',
			inputSchema: {type: 'object', properties: {directory}},
			call: stopLogging,
		},
	],
	[
		'add-port-rule',
		{
			description: 'Add a rule that forwards connections from a local port to a port of another host',
			inputSchema: {
				type: 'object',
				properties: {
					local_port: localPort,
					target_host: {type: 'string', description: 'Host name or address'},
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
			description: 'Remove a rule: its port accepts no new connections. Open connections stay open',
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
			description: 'Shut down: close all connections, flush the logs, and exit',
			inputSchema: {type: 'object', properties: {}},
			call: (_args, {shutDown}) => {
				shutDown();
				return 'Shutting down';
			},
		},
	],
]);

export const controlToolList: readonly JsonObject[] = [...controlTools].map(
	([name, {description, inputSchema}]) => ({
		name,
		description,
		inputSchema,
	}),
);

/** Calls a tool and resolves to the text of its result. Rejects with a BridgeError if the call fails. */
export async function callControlTool(
	name: unknown,
	args: unknown,
	targets: ControlTargets,
): Promise<string> {
	const tool = typeof name === 'string' ? controlTools.get(name) : undefined;
	if (!tool) throw invalidArguments(`Unknown tool: ${typeof name === 'string' ? name : 'no name'}`);
	if (args !== undefined && !isObject(args)) throw invalidArguments('arguments has to be an object');
	return tool.call(args ?? {}, targets);
}

async function startLogging(args: JsonObject, {destinations, logRoot}: ControlTargets): Promise<string> {
	const {directory: directoryValue = null, filename_format: format} = args;
	const folder = parseDirectory(directoryValue);
	if (format !== undefined && (typeof format !== 'string' || format === ''))
		throw invalidArguments('filename_format has to be a string');
	if (folder !== null) await checkLogDestination(folder, format ?? destinations.format, logRoot);
	await destinations.start(folder, format);
	return `Logging started: ${folder ?? 'STDOUT'}`;
}

async function stopLogging(args: JsonObject, {destinations}: ControlTargets): Promise<string> {
	const stopped = await destinations.stop(
		args.directory === undefined ? undefined : parseDirectory(args.directory),
	);
	return stopped.length === 0 ? 'Nothing was being logged' : `Logging stopped: ${stopped.join(', ')}`;
}

async function addPortRule(args: JsonObject, {ports}: ControlTargets): Promise<string> {
	const rule = createPortRule(args.local_port, args.target_host, args.target_port);
	if (typeof rule === 'string') throw invalidArguments(rule);
	const {port} = await ports.add(rule);
	return `Port rule added: ${port} -> ${ruleTargetText(rule)}`;
}

function removePortRule({local_port: port}: JsonObject, {ports, connections}: ControlTargets): string {
	if (!Number.isInteger(port)) throw invalidArguments('local_port has to be an integer');
	if (!ports.remove(Number(port))) throw invalidArguments(`Port ${port} not found`);
	const open = connections.countOf(Number(port));
	return `Port rule removed: ${port}${open > 0 ? `; open connections that remain: ${open}` : ''}`;
}

function parseDirectory(value: unknown): string | null {
	if (value === null || (typeof value === 'string' && value !== '' && !value.includes('\0'))) return value;
	throw invalidArguments('directory has to be a string that names a folder, or null');
}

const invalidArguments = (message: string): BridgeError => new BridgeError('ERR_CONFIG_INVALID', message, '');
