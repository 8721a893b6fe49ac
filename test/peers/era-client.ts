import type {Version} from './eras.js';
import type {Command} from './peers.js';

/* What the tests of versions ask of a client, whichever SDK is behind it. */

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
	/** Only SDK v2 has it. When it connects it asks on a connection of its own; this asks on the one in use. */
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

/** A message as it came over the wire. */
export interface WireMessage {
	readonly id?: unknown;
	readonly method?: string;
	readonly params?: Readonly<Record<string, unknown>>;
	readonly result?: Readonly<Record<string, unknown>>;
}

export interface EraClient {
	readonly version: Version;
	readonly sdk: CommonClient;
	/** The version that client and server, or whoever stands for it, agreed on. */
	negotiated(): unknown;
	callTool(name: string, given?: object, options?: CallOptions): Promise<CallResult>;
	/** From now on the server shall tell what is at least as severe. */
	setLevel(level: string): Promise<void>;
	/** Asks the server to tell when its tools or that resource change. */
	subscribe(uri: string): Promise<void>;
	/** Everything that has come so far; `received` has what is of one method. */
	readonly messages: readonly WireMessage[];
	received(method: string): readonly WireMessage[];
	/** Resolves when a message of that method has come. */
	seen(method: string): Promise<void>;
	/** The methods that this client was asked to answer, in order. */
	readonly asked: readonly string[];
}

export interface Transport {
	onmessage?: unknown;
}

/** A transport of an SDK's own that starts the server; `noteMessage` hears all that comes from it. */
export function tapped(
	StdioClientTransport: new (parameters: object) => Transport,
	{command, args, env}: Command,
	noteMessage: (message: WireMessage) => void,
): Transport {
	// Old releases take the environment as it is given, newer ones add to it.
	const parameters = {command, args: [...args], env: {...process.env, ...env}, stderr: 'ignore'};
	const transport = new StdioClientTransport(parameters);
	let handler: ((message: WireMessage, ...more: unknown[]) => void) | undefined;
	// Old releases overwrite a handler that was there before, so the handler they set is wrapped.
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
