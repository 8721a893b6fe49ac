import {peerUrl} from './peers.js';

/*
 * Types for the part of the real SDK 1.32.2 that these tests use, since the project does not depend on it.
 */

export interface SdkTransport {
	onmessage?: (message: unknown) => void;
	readonly stderr: NodeJS.ReadableStream | null;
}

export interface SdkOptions {
	readonly signal?: AbortSignal;
	readonly onprogress?: (progress: unknown) => void;
}

export interface SdkClient {
	onerror?: (error: Error) => void;
	onclose?: () => void;
	connect(transport: SdkTransport): Promise<void>;
	close(): Promise<void>;
	request(
		request: {method: string; params?: object},
		schema: unknown,
		options?: SdkOptions,
	): Promise<unknown>;
	setRequestHandler(schema: unknown, handler: (request: unknown) => unknown): void;
	setNotificationHandler(schema: unknown, handler: (notification: unknown) => void): void;
	getServerVersion(): unknown;
	getServerCapabilities(): unknown;
	getInstructions(): unknown;
	ping(): Promise<unknown>;
	listTools(): Promise<unknown>;
	callTool(
		call: {name: string; arguments?: object; _meta?: object},
		schema?: undefined,
		options?: SdkOptions,
	): Promise<unknown>;
	listResources(): Promise<unknown>;
	listResourceTemplates(): Promise<unknown>;
	readResource(resource: {uri: string}): Promise<unknown>;
	subscribeResource(resource: {uri: string}): Promise<unknown>;
	unsubscribeResource(resource: {uri: string}): Promise<unknown>;
	listPrompts(): Promise<unknown>;
	getPrompt(prompt: {name: string; arguments?: object}): Promise<unknown>;
	complete(completion: {ref: object; argument: object; context?: object}): Promise<unknown>;
	setLoggingLevel(level: string): Promise<unknown>;
	sendRootsListChanged(): Promise<void>;
}

export interface Sdk {
	readonly Client: new (info: {name: string; version: string}, options: {capabilities: object}) => SdkClient;
	readonly StdioClientTransport: new (parameters: object) => SdkTransport;
	/** The zod schema with that name in the SDK's `types.js`. */
	schema(name: string): unknown;
}

type Constructors = Pick<Sdk, 'Client' | 'StdioClientTransport'>;

function hasClasses(value: object): value is Constructors {
	const names = ['Client', 'StdioClientTransport'];
	return names.every(name => typeof Reflect.get(value, name) === 'function');
}

async function loadModule(file: string): Promise<object> {
	const module: unknown = await import(peerUrl(`@modelcontextprotocol/sdk/dist/esm/${file}`).href);
	if (typeof module !== 'object' || module === null) {
		throw new TypeError(`The SDK has no module ${file}`);
	}

	return module;
}

export async function loadSdk(): Promise<Sdk> {
	const [client, stdio, types] = await Promise.all(
		['client/index.js', 'client/stdio.js', 'types.js'].map(loadModule),
	);
	const classes: object = {...client, ...stdio};
	if (!hasClasses(classes)) {
		throw new TypeError('The SDK has no Client or no StdioClientTransport');
	}

	return {
		Client: classes.Client,
		StdioClientTransport: classes.StdioClientTransport,
		schema(name) {
			const schema: unknown = Reflect.get(types ?? {}, name);
			if (schema === undefined) {
				throw new TypeError(`The SDK has no ${name}`);
			}

			return schema;
		},
	};
}
