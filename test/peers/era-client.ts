import type {Version} from './eras.js';
import type {Command} from './peers.js';

/* The interface of a client in the version tests, independent of its SDK. */

export interface Content {
	readonly type: string;
	readonly text?: string;
	readonly data?: string;
	readonly mimeType?: string;
	readonly uri?: string;
	readonly name?: string;
	readonly resource?: Readonly<Record<'uri' | 'mimeType' | 'text' | 'blob', string>>;
}

export interface CallResult {
	readonly content: readonly Content[];
	readonly isError?: boolean;
	readonly structuredContent?: unknown;
}

export interface Tool {
	readonly name: string;
	readonly inputSchema: unknown;
	readonly outputSchema?: {readonly type?: string; readonly required?: readonly string[]};
}

interface Named {
	readonly name: string;
}

export interface CallOptions {
	readonly signal?: AbortSignal;
	readonly onprogress?: (progress: unknown) => void;
}

/** The part of an SDK's Client that is the same in all releases. */
export interface CommonClient {
	close(): Promise<void>;
	/**
	 * Only in SDK v2. Its connect() uses a separate connection for discovery; this uses the current one.
	 */
	discover?(): Promise<{readonly supportedVersions: readonly string[]}>;
	getServerVersion(): unknown;
	getServerCapabilities(): Readonly<Record<string, unknown>> | undefined;
	listTools(): Promise<{readonly tools: readonly Tool[]}>;
	listResources(): Promise<{readonly resources: ReadonlyArray<Named & {readonly uri: string}>}>;
	listResourceTemplates(): Promise<{
		readonly resourceTemplates: ReadonlyArray<{readonly uriTemplate: string}>;
	}>;
	readResource(resource: {uri: string}): Promise<{readonly contents: readonly unknown[]}>;
	listPrompts(): Promise<{readonly prompts: readonly Named[]}>;
	getPrompt(prompt: {name: string; arguments?: object}): Promise<{
		readonly messages: ReadonlyArray<{readonly role: string; readonly content: Content}>;
	}>;
	complete(completion: {ref: object; argument: {name: string; value: string}; context?: object}): Promise<{
		readonly completion: {readonly values: readonly string[]};
	}>;
}

/** A message as received on the transport. */
export interface WireMessage {
	readonly id?: unknown;
	readonly method?: string;
	readonly params?: Readonly<Record<string, unknown>>;
	readonly result?: Readonly<Record<string, unknown>>;
}

export interface EraClient {
	readonly version: Version;
	readonly sdk: CommonClient;
	/** The version that the client negotiated. */
	negotiated(): unknown;
	callTool(name: string, args?: object, options?: CallOptions): Promise<CallResult>;
	/** Requests log messages of this level and above. */
	setLevel(level: string): Promise<void>;
	/** Subscribes to changes of the tools or of that resource. */
	subscribe(uri: string): Promise<void>;
	/** All messages received so far. `received` filters them by method. */
	readonly messages: readonly WireMessage[];
	received(method: string): readonly WireMessage[];
	/** Resolves when a message with that method has been received. */
	seen(method: string): Promise<void>;
	/** The methods of the server requests received, in order. */
	readonly serverRequests: readonly string[];
}

export interface Transport {
	onmessage?: unknown;
}

/** Creates an SDK transport that starts the server. `noteMessage` gets each message that it receives. */
export function tapped(
	StdioClientTransport: new (parameters: object) => Transport,
	{command, args, env}: Command,
	noteMessage: (message: WireMessage) => void,
): Transport {
	// Old SDK releases use the environment unchanged; newer ones extend it.
	const parameters = {command, args: [...args], env: {...process.env, ...env}, stderr: 'ignore'};
	const transport = new StdioClientTransport(parameters);
	let handler: ((message: WireMessage, ...more: unknown[]) => void) | undefined;
	// Old SDK releases overwrite an existing handler, so the handler that they set is wrapped.
	Object.defineProperty(transport, 'onmessage', {
		get: () => handler,
		set(inner: typeof handler) {
			handler = (message, ...more) => {
				noteMessage(message);
				inner?.(message, ...more);
			};
		},
	});
	return transport;
}
