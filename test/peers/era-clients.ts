import {EventEmitter, once} from 'node:events';
import {type CommonClient, type EraClient, type Transport, tapped, type WireMessage} from './era-client.js';
import {capabilitiesOf, handlersOf} from './era-handlers.js';
import {isModern, type Release} from './eras.js';
import type {Owner} from './listening.js';
import type {Command} from './peers.js';

/*
 * One client per version, each from an SDK release of its time. The common part is typed here, since the
 * releases differ.
 */

interface SdkClient extends CommonClient {
	connect(transport: Transport): Promise<void>;
	setRequestHandler(what: unknown, handler: (request: {readonly params?: unknown}) => object): void;
	callTool(...args: readonly unknown[]): ReturnType<EraClient['callTool']>;
	/* Only in the handshake era. */
	setLoggingLevel(level: string): Promise<unknown>;
	subscribeResource(resource: {uri: string}): Promise<unknown>;
	/* Only in SDK v2. */
	getNegotiatedProtocolVersion?(): unknown;
	listen?(filter: object): Promise<unknown>;
}

interface SdkModules {
	readonly Client: new (info: object, options: object) => SdkClient;
	readonly StdioClientTransport: new (parameters: object) => Transport;
}

const info = {name: 'bridge-pair-tests', version: '1.0.0'};

function hasClasses(modules: object): modules is SdkModules {
	return ['Client', 'StdioClientTransport'].every(name => typeof Reflect.get(modules, name) === 'function');
}

async function load({sdk, folder}: Release, files: readonly string[]): Promise<SdkModules & object> {
	const urls = files.map(file => new URL(file, folder).href);
	const modules: object = Object.assign({}, ...(await Promise.all(urls.map(url => import(url)))));
	if (!hasClasses(modules)) {
		throw new TypeError(`SDK ${sdk} has no Client or no StdioClientTransport`);
	}

	return modules;
}

/** The names of the SDK's zod schemas: v1 sets a handler by schema, v2 by method. */
const requestSchemas: Readonly<Record<string, string>> = {
	'roots/list': 'ListRootsRequestSchema',
	'sampling/createMessage': 'CreateMessageRequestSchema',
	'elicitation/create': 'ElicitRequestSchema',
};

/** The messages received. Emits the method of each message on arrival. */
class Wire extends EventEmitter {
	readonly messages: WireMessage[] = [];

	note(message: WireMessage): void {
		this.messages.push(message);
		if (message.method !== undefined) {
			this.emit(message.method);
		}
	}

	received(method: string): WireMessage[] {
		return this.messages.filter(message => message.method === method);
	}

	async seen(method: string): Promise<void> {
		if (this.received(method).length === 0) {
			await once(this, method);
		}
	}
}

interface Connection {
	readonly client: SdkClient;
	readonly wire: Wire;
	readonly serverRequests: readonly string[];
}

async function open(t: Owner, release: Release, command: Command): Promise<Connection> {
	const {version} = release;
	const modern = isModern(version);
	const files = modern ? ['index.mjs', 'stdio.mjs'] : ['client/index.js', 'client/stdio.js', 'types.js'];
	const sdk = await load(release, files);
	const versionNegotiation = modern ? {versionNegotiation: {mode: {pin: version}}} : {};
	const client = new sdk.Client(info, {capabilities: capabilitiesOf(version), ...versionNegotiation});
	const serverRequests: string[] = [];
	for (const [method, handler] of Object.entries(handlersOf(version))) {
		client.setRequestHandler(modern ? method : Reflect.get(sdk, requestSchemas[method] ?? ''), ({params}) => {
			serverRequests.push(method);
			return handler(params);
		});
	}

	const wire = new Wire();
	t.teardown(() => client.close());
	await client.connect(tapped(sdk.StdioClientTransport, command, message => wire.note(message)));
	return {client, wire, serverRequests};
}

const logLevelKey = 'io.modelcontextprotocol/logLevel';

/** Connects a client of this SDK release to the server that the command starts. */
export async function connect(t: Owner, release: Release, command: Command): Promise<EraClient> {
	const {client, wire, serverRequests} = await open(t, release, command);
	const {version} = release;
	const modern = isModern(version);
	let level: object = {};
	return {
		version,
		sdk: client,
		serverRequests,
		messages: wire.messages,
		received: method => wire.received(method),
		seen: method => wire.seen(method),
		negotiated: () =>
			modern
				? client.getNegotiatedProtocolVersion?.()
				: wire.messages.find(message => message.result?.protocolVersion)?.result?.protocolVersion,
		callTool(name, args = {}, options = {}) {
			const call = {name, arguments: args, ...level};
			return modern ? client.callTool(call, options) : client.callTool(call, undefined, options);
		},
		async subscribe(uri) {
			if (modern) {
				await client.listen?.({toolsListChanged: true, resourceSubscriptions: [uri]});
			} else {
				// Servers send list changes without a subscription.
				await client.subscribeResource({uri});
			}
		},
		async setLevel(minimum) {
			if (modern) {
				// There is no session to store the level, so each request contains it.
				level = {_meta: {[logLevelKey]: minimum}};
			} else {
				await client.setLoggingLevel(minimum);
			}
		},
	};
}
