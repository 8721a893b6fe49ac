import type {MessagePort} from 'node:worker_threads';
import type {WasmModule} from './web-assembly.js';

/** An interpreter as it was when it had read the prelude, to be copied for each program. */
export type PythonSnapshot = {
	readonly module: WasmModule;
	readonly image: SharedArrayBuffer;
	/** Addresses: the type of functions, the function to call, an empty tuple. */
	readonly entry: readonly [type: number, main: number, args: number];
};

/** Makes an interpreter that can be copied. */
export type BootData = {readonly task: 'boot'; readonly path: string; readonly maxMemoryBytes: number};

/** Runs one program in a copy. */
export type RunData = {
	readonly task: 'run';
	readonly python: PythonSnapshot;
	/** Where this side's words come from, one message each, after `heard` has been counted up. */
	readonly port: MessagePort;
	readonly sentCount: Int32Array;
	/** What the program prints: its length, then the bytes. */
	readonly output: SharedArrayBuffer;
	readonly limits: MessageLimits;
	/** The bytes of one call, set before the program is sent: the thread may be older than the run. */
	readonly callBytes: Int32Array;
};

/** Limits of messages that a program sends to the main thread. They are checked in its own thread, at no cost for other clients. */
export type MessageLimits = {
	/** The bytes of the last message. The limit of calls is in {@link RunData.callBytes}. */
	readonly maxOutcomeBytes: number;
	/** Calls and batches, those that fail included. */
	readonly maxAttempts: number;
};

/** Why a program ends that does not come to its own end. */
export type ProgramEndReason = 'flood' | 'line' | 'values' | 'attempts' | 'unread' | 'exit' | 'fault';

/** What a worker tells: it is ready, a line of the program's, or why it ends. */
export type WorkerMessage =
	| {readonly python: PythonSnapshot}
	| {readonly ready: true}
	| {readonly line: string}
	| {readonly end: ProgramEndReason; readonly detail: string};
