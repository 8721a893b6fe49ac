import type {ExecutionContext} from 'ava';
import {answersOf, capabilitiesOf} from './era-answers.js';
import {type CommonClient, type EraClient, type Transport, tapped, type WireMessage} from './era-client.js';
import {isModern, type Version} from './eras.js';
import {type Command, peerUrl} from './peers.js';

/* A client for each version, made with a real SDK of its time. The project does not depend on any, so they are typed here. */

interface SdkClient extends CommonClient {
	connect(transport: Transport): Promise<void>;
	setRequestHandler(what: unknown, handler: (request: {readonly params?: unknown}) => object): void;
	callTool(...given: readonly unknown[]): ReturnType<EraClient['callTool']>;
	/* These two only the handshake era has, and only some of its releases the third. */
	setLoggingLevel(level: string): Promise<unknown>;
	getNegotiatedProtocolVersion?(): unknown;
}

interface SdkModules {
	readonly Client: new (info: object, options: object) => SdkClient;
	readonly StdioClientTransport: new (parameters: object) => Transport;
}

const info = {name: 'bridge-pair-tests', version: '1.0.0'};

const folders: Readonly<Record<Version, string>> = {
	'2024-11-05': 'sdk-2024-11-05/dist',
	'2025-03-26': 'sdk-2025-03-26/dist/esm',
	'2025-06-18': 'sdk-2025-06-18/dist/esm',
	'2025-11-25': 'sdk-2025-11-25/dist/esm',
	'2026-07-28': '@modelcontextprotocol/client/dist',
};

function hasClasses(modules: object): modules is SdkModules {
	return ['Client', 'StdioClientTransport'].every(name => typeof Reflect.get(modules, name) === 'function');
}

async function load(version: Version, files: readonly string[]): Promise<SdkModules & object> {
	const urls = files.map(file => peerUrl(`${folders[version]}/${file}`).href);
	const modules: object = Object.assign({}, ...(await Promise.all(urls.map(url => import(url)))));
	if (!hasClasses(modules)) {
		throw new TypeError(`The SDK for ${version} has no Client or no StdioClientTransport`);
	}

	return modules;
}

/** The names of the SDK's zod schemas: in v1 a handler is set for a schema, in v2 for a method. */
const requestSchemas: Readonly<Record<string, string>> = {
	'roots/list': 'ListRootsRequestSchema',
	'sampling/createMessage': 'CreateMessageRequestSchema',
	'elicitation/create': 'ElicitRequestSchema',
};

interface Connection {
	readonly client: SdkClient;
	readonly messages: readonly WireMessage[];
	readonly asked: readonly string[];
}

async function open(t: ExecutionContext, version: Version, command: Command): Promise<Connection> {
	const modern = isModern(version);
	const files = modern ? ['index.mjs', 'stdio.mjs'] : ['client/index.js', 'client/stdio.js', 'types.js'];
	const sdk = await load(version, files);
	const versionNegotiation = modern ? {versionNegotiation: {mode: {pin: version}}} : {};
	const client = new sdk.Client(info, {capabilities: capabilitiesOf(version), ...versionNegotiation});
	const asked: string[] = [];
	for (const [method, answer] of Object.entries(answersOf(version))) {
		client.setRequestHandler(modern ? method : Reflect.get(sdk, requestSchemas[method] ?? ''), ({params}) => {
			asked.push(method);
			return answer(params);
		});
	}

	const messages: WireMessage[] = [];
	t.teardown(() => client.close());
	await client.connect(tapped(sdk.StdioClientTransport, command, messages));
	return {client, messages, asked};
}

const logLevelKey = 'io.modelcontextprotocol/logLevel';

/** A client of this version, connected to what the command starts. */
export async function connect(t: ExecutionContext, version: Version, command: Command): Promise<EraClient> {
	const {client, messages, asked} = await open(t, version, command);
	const modern = isModern(version);
	let level: object = {};
	return {
		version,
		sdk: client,
		asked,
		received: method => messages.filter(message => message.method === method),
		negotiated: () =>
			modern
				? client.getNegotiatedProtocolVersion?.()
				: messages.find(message => message.result?.protocolVersion)?.result?.protocolVersion,
		callTool(name, given = {}, options = {}) {
			const call = {name, arguments: given, ...level};
			return modern ? client.callTool(call, options) : client.callTool(call, undefined, options);
		},
		async setLevel(wanted) {
			if (modern) {
				// There is no session that could keep it: every request says it anew.
				level = {_meta: {[logLevelKey]: wanted}};
			} else {
				await client.setLoggingLevel(wanted);
			}
		},
	};
}
