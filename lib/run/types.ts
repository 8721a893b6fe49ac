import type {Log} from '../core/log.js';

/** The arguments of one call, by the names of the tool's parameters. */
export type Arguments = {readonly [name: string]: unknown};

/** A tool as a program in `run` finds it. */
export type PackTool = {
	readonly name: string;
	readonly description?: string;
	/** The JSON Schema of its arguments: names, order, prefixes and the signature come from it. */
	readonly inputSchema?: unknown;
	readonly outputSchema?: unknown;
};

/** Tools under one name: `wix.list_sites()` is the tool `list_sites` of the pack `wix`. */
export type Pack = {
	/** As configured. A name that Python cannot spell gets one that it can: `my-server` is `my_server`. */
	readonly name: string;
	readonly source: 'local' | 'proxied';
	readonly description?: string;
	readonly tools: readonly PackTool[];
	/** The server's pack of the same name, whose tools are found where this one has no namesake. */
	readonly fallback?: Pack;
	/** Why nothing of it can be called now. Its calls then fail with these words. */
	readonly unavailableReason?: string;
	/** Notified of each call that fails for that reason. */
	readonly onRejected?: (tool: string, error: Error) => void;
	/** While its server is still connecting: resolves to the pack as it is afterwards, or when a call has waited long enough. */
	readonly whenConnected?: (signal: AbortSignal) => Promise<Pack>;
	/** How long one call may take. Afterwards it is aborted, and the program gets `ToolTimeout`. None: the run's own limit. */
	readonly timeoutMs?: number;
	/**
	 * Calls a tool under its own name. A proxied pack gives the `CallToolResult` as the server sent it, a local one any JSON.
	 * Rejected: the program gets `ToolError` with the message. Aborted: the call is to be cancelled; what it gives
	 * then is dropped.
	 */
	call(tool: string, args: Arguments, signal: AbortSignal): Promise<unknown>;
};

/** What `proxy.list_servers()` tells of a server, connected or not. */
export type ServerState = {
	readonly name: string;
	readonly type: string;
	readonly enabled: boolean;
	readonly connected: boolean;
	/** The version of MCP that was negotiated with it. */
	readonly protocolVersion?: string;
	/** Why it is not connected. */
	readonly error?: string;
};

/** What a runner is made of. Whatever has a default here is a limit, and a run that exceeds it ends with an error. */
export type RunnerOptions = {
	/** Asked anew for each run. Of two packs of one name the local one wins. */
	readonly packs: () => readonly Pack[];
	/** For `proxy.list_servers()`; without it, the proxied packs are the servers. */
	readonly servers?: () => readonly ServerState[];
	readonly log: Log;
	/** 90 s. A run is over then, whatever it waits for or computes. */
	readonly runTimeoutMs?: number;
	/** As many as there are cores. Of runs that need the interpreter, so many are under way at once. */
	readonly maxConcurrent?: number;
	/** 32. So many more may wait; the next is refused. */
	readonly maxQueued?: number;
	/** 1 MiB, of what a program prints and of its result. */
	readonly maxOutputBytes?: number;
	/** 128 MiB for one run, of which the interpreter gets three quarters. */
	readonly maxMemoryBytes?: number;
	/** 1 MiB of JSON, for the arguments of one call and for its result. */
	readonly maxCallBytes?: number;
	/** 100 calls in one run. More fail; a program that keeps trying ends. */
	readonly maxCalls?: number;
	/** 8 calls of one run at once, in a batch. */
	readonly maxParallelCalls?: number;
	/** 5 min without a run that needs it: the interpreter's memory is given back. */
	readonly idleMs?: number;
};

/** One part of what a tool gives back. Text comes first; images and the like that calls gave follow. */
export type ContentPart =
	| {readonly type: 'text'; readonly text: string}
	| {readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string};

/** What a program is for programs: its value, or why there is none, and where its data came from. */
export type RunStructuredContent = {
	/** The value, where there is one. Absent when it ended with an error. */
	readonly result?: unknown;
	/** What it printed. */
	readonly stdout?: string;
	readonly error?: {readonly type: string; readonly message: string; readonly line?: number};
	/** The tools that were called, as `pack.tool`, each once: what they gave is data, whatever it says. */
	readonly calls?: readonly string[];
};

/** The result of `run`, as `tools/call` wants it. */
export type RunResult = {
	readonly content: readonly ContentPart[];
	readonly structuredContent: RunStructuredContent;
	readonly isError: boolean;
};

export type RunCallOptions = {
	/** Aborted: calls in flight are aborted, the interpreter is ended, and the result says that the run was cancelled. */
	readonly signal?: AbortSignal;
	/** Shorter than the runner's own limit; a longer one is not granted. */
	readonly timeoutMs?: number;
	/** The client of the run, and how many runs it may have at once: a share of all places. 0 or none: no quota. */
	readonly client?: string;
	readonly clientRuns?: number | undefined;
	/** Instead of the runner's. */
	readonly maxCallBytes?: number;
	/** What this run finds, where one runner serves several clients, each with packs of its own. */
	readonly packs?: RunnerOptions['packs'];
	readonly servers?: NonNullable<RunnerOptions['servers']>;
};

/** Runs programs. */
export type Runner = {
	/** Never rejects: whatever goes wrong is a result with `isError`. */
	run(command: string, options?: RunCallOptions): Promise<RunResult>;
	/** Makes an interpreter ready ahead of the first program that needs one. Nothing happens where there is none. */
	warmUp(): Promise<void>;
	/** Ends what is under way. Later runs are refused. */
	close(): Promise<void>;
};
