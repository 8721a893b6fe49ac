import type {LogDestination} from './traffic-log.js';

/** What the thread that logs is told. */
export type ToLogWorker =
	| {readonly kind: 'open'; readonly key: number; readonly destination: LogDestination | 'stdout'}
	/** Lines for all that is open, and how many had to be left out before them. */
	| {readonly kind: 'records'; readonly block: Uint8Array; readonly gap?: LogGap | undefined}
	/** One line for one destination, which is its last. */
	| {readonly kind: 'close'; readonly key: number; readonly last?: Uint8Array | undefined}
	/** Stdout has taken what it was given, or why it has not. */
	| {readonly kind: 'wrote'; readonly error?: string | undefined};

/** What it tells. */
export type FromLogWorker =
	/** So much that was sent is no longer on its way. */
	| {readonly kind: 'taken'; readonly bytes: number}
	/** A block that can be used again. */
	| {readonly kind: 'spare'; readonly memory: ArrayBuffer}
	| {readonly kind: 'full'; readonly isFull: boolean}
	| {readonly kind: 'trouble'; readonly key: number; readonly sentence: string; readonly leftOutLines: number}
	| {readonly kind: 'write'; readonly bytes: Uint8Array}
	| {
			readonly kind: 'closed';
			readonly key: number;
			readonly lostBytes: number;
			readonly leftOutLines: number;
	  };

type LogGap = {readonly lines: number; readonly bytes: number};

/** What holds for every destination. */
export type LogSettings = {
	readonly flushMs: number;
	readonly maxBytes: number;
	readonly onFull: 'gap' | 'wait';
};
