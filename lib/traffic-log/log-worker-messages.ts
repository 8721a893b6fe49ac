import type {LogDestination} from './traffic-log.js';

export type ToLogWorker =
	| {readonly kind: 'open'; readonly key: number; readonly destination: LogDestination | 'stdout'}
	/** Lines for all open destinations, and what was dropped before them. */
	| {readonly kind: 'records'; readonly block: Uint8Array; readonly gap?: LogGap | undefined}
	/** Closes a destination after one last line. */
	| {readonly kind: 'close'; readonly key: number; readonly last?: Uint8Array | undefined}
	/** The result of a `write`. */
	| {readonly kind: 'wrote'; readonly error?: string | undefined};

export type FromLogWorker =
	/** This many bytes are no longer in flight. */
	| {readonly kind: 'processed'; readonly bytes: number}
	| {readonly kind: 'spare'; readonly memory: ArrayBuffer}
	| {readonly kind: 'full'; readonly isFull: boolean}
	| {readonly kind: 'trouble'; readonly key: number; readonly text: string; readonly leftOutLines: number}
	| {readonly kind: 'write'; readonly bytes: Uint8Array}
	| {
			readonly kind: 'closed';
			readonly key: number;
			readonly lostBytes: number;
			readonly leftOutLines: number;
	  };

type LogGap = {readonly lines: number; readonly bytes: number};

export type LogSettings = {
	readonly flushMs: number;
	readonly maxBytes: number;
	readonly onFull: 'gap' | 'wait';
};
