import type {MessagePort} from 'node:worker_threads';
import type {WasmModule} from './web-assembly.js';

/** The memory of an interpreter that has run the prelude. Each program starts from a copy. */
export type PythonSnapshot = {
	readonly module: WasmModule;
	readonly image: SharedArrayBuffer;
	/** Addresses of the function type, of the main function and of an empty tuple. */
	readonly entry: readonly [type: number, main: number, args: number];
};

/** Boots an interpreter and takes a snapshot. */
export type BootData = {readonly task: 'boot'; readonly path: string; readonly maxMemoryBytes: number};

/** Runs one program in a copy of the snapshot. */
export type RunData = {
	readonly task: 'run';
	readonly python: PythonSnapshot;
	/** Receives messages from the main thread. `sentCount` is incremented after each message. */
	readonly port: MessagePort;
	readonly sentCount: Int32Array;
	/** The printed text: its length, then the bytes. */
	readonly output: SharedArrayBuffer;
	readonly limits: MessageLimits;
	/**
	 * The maximum bytes of one call. Set before the program is sent, since the thread may be older than the
	 * run.
	 */
	readonly callBytes: Int32Array;
};

/**
 * Limits of the messages from a program to the main thread. They are checked in the thread of the program, so
 * that checks do not slow down other clients.
 */
export type MessageLimits = {
	/** The maximum bytes of the last message. The limit of calls is in {@link RunData.callBytes}. */
	readonly maxOutcomeBytes: number;
	/** The maximum number of calls and batches, including failed ones. */
	readonly maxAttempts: number;
};

/** The reason why a program was ended. */
export type ProgramEndReason = 'flood' | 'line' | 'values' | 'attempts' | 'unread' | 'exit' | 'fault';

/**
 * A message from a worker: the snapshot, readiness, a message of the program, or the reason why the program
 * ended.
 */
export type WorkerMessage =
	| {readonly python: PythonSnapshot}
	| {readonly ready: true}
	| {readonly line: string}
	| {readonly end: ProgramEndReason; readonly detail: string};
