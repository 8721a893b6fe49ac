import type {Log} from '../core/log.js';

/** The arguments of one call, by parameter name. */
export type Arguments = {readonly [name: string]: unknown};

export type PackTool = {
	readonly name: string;
	readonly description?: string;
	/** The JSON Schema of the arguments. Names, order, prefixes and the signature are derived from it. */
	readonly inputSchema?: unknown;
	readonly outputSchema?: unknown;
};

/** A named group of tools: `wix.list_sites()` calls the tool `list_sites` of the pack `wix`. */
export type Pack = {
	/** The configured name. Programs use its Python spelling: `my-server` becomes `my_server`. */
	readonly name: string;
	readonly source: 'local' | 'proxied';
	readonly description?: string;
	readonly tools: readonly PackTool[];
	/** The proxied pack of the same name. Its tools are used if this pack has no tool of that name. */
	readonly fallback?: Pack;
	/** The reason why calls fail, if the pack is unavailable. */
	readonly unavailableReason?: string;
	/** Notified of each call that fails for that reason. */
	readonly onRejected?: (tool: string, error: Error) => void;
	/**
	 * Set while the server is connecting. Resolves with the updated pack, or with the current one when the
	 * wait times out.
	 */
	readonly whenConnected?: (signal: AbortSignal) => Promise<Pack>;
	/**
	 * The time limit of one call. Then the call is aborted, and the program gets `ToolTimeout`. Undefined:
	 * only the limit of the run applies.
	 */
	readonly timeoutMs?: number;
	/**
	 * Calls a tool by its own name. A proxied pack returns the `CallToolResult` of the server, a local one
	 * any JSON. A rejection becomes a `ToolError` with its message. If the signal is aborted, the call must
	 * be cancelled, and its result is dropped.
	 */
	call(tool: string, args: Arguments, signal: AbortSignal): Promise<unknown>;
};

/** The state of a server in `proxy.list_servers()`. */
export type ServerState = {
	readonly name: string;
	readonly type: string;
	readonly enabled: boolean;
	readonly connected: boolean;
	/** The negotiated protocol version. */
	readonly protocolVersion?: string;
	/** The reason why it is not connected. */
	readonly error?: string;
};

/**
 * The options of a runner. Properties with a default value are limits. A run that exceeds a limit ends with
 * an error.
 */
export type RunnerOptions = {
	/** Called for each run. A local pack takes precedence over a proxied one of the same name. */
	readonly packs: () => readonly Pack[];
	/** For `proxy.list_servers()`. Default: the proxied packs. */
	readonly servers?: () => readonly ServerState[];
	readonly log: Log;
	/** Time limit of a run. Default: 90 s. */
	readonly runTimeoutMs?: number;
	/** Maximum concurrent runs that use an interpreter. Default: max(4, CPU cores). */
	readonly maxConcurrent?: number;
	/** Maximum queued runs. More are rejected. Default: 32. */
	readonly maxQueued?: number;
	/** Maximum bytes of the printed text, and of the result. Default: 1 MiB each. */
	readonly maxOutputBytes?: number;
	/** Memory of one run. The interpreter gets three quarters of it. Default: 128 MiB. */
	readonly maxMemoryBytes?: number;
	/** Maximum bytes of JSON for the arguments of one call, and for its result. Default: 1 MiB each. */
	readonly maxCallBytes?: number;
	/** Maximum calls in one run. More calls fail, and a program that keeps trying is ended. Default: 100. */
	readonly maxCalls?: number;
	/** Maximum parallel calls of one run. Default: 8. */
	readonly maxParallelCalls?: number;
	/** Idle time after which the memory of the interpreter is released. Default: 5 min. */
	readonly idleMs?: number;
};

/** One part of a result. Text comes first, followed by media from calls. */
export type ContentPart =
	| {readonly type: 'text'; readonly text: string}
	| {readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string};

/** The structured result of a run for clients. */
export type RunStructuredContent = {
	/** The value of the program. Absent if it has none or if it failed. */
	readonly result?: unknown;
	readonly stdout?: string;
	readonly error?: {readonly type: string; readonly message: string; readonly line?: number};
	/**
	 * The called tools as `pack.tool`, without duplicates. Marks the origin of the data, which is untrusted.
	 */
	readonly calls?: readonly string[];
};

/** The result of a run as a `CallToolResult`. */
export type RunResult = {
	readonly content: readonly ContentPart[];
	readonly structuredContent: RunStructuredContent;
	readonly isError: boolean;
};

export type RunCallOptions = {
	/**
	 * Aborting it aborts pending calls and terminates the interpreter. The result then reports the
	 * cancellation.
	 */
	readonly signal?: AbortSignal;
	/** A time limit below the runner's own. Longer limits are capped. */
	readonly timeoutMs?: number;
	/** The client of the run. */
	readonly client?: string;
	/** The maximum number of concurrent runs of the client. 0 or undefined: no quota. */
	readonly clientRuns?: number | undefined;
	/** Overrides the limit of the runner. */
	readonly maxCallBytes?: number;
	/** Overrides the runner's packs, if one runner serves clients with different packs. */
	readonly packs?: RunnerOptions['packs'];
	readonly servers?: NonNullable<RunnerOptions['servers']>;
};

export type Runner = {
	/** Never rejects: errors are results with `isError`. */
	run(command: string, options?: RunCallOptions): Promise<RunResult>;
	/**
	 * Starts an interpreter before the first program needs one. Does nothing if no interpreter is installed.
	 */
	warmUp(): Promise<void>;
	/** Ends active runs and rejects later ones. */
	close(): Promise<void>;
};
