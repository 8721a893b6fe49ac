import type {Readable, Writable} from 'node:stream';
import {setImmediate} from 'node:timers/promises';
import type {Origin} from '../envelope.js';
import {frame, MESSAGE_LIMIT} from '../operators/frame.js';
import type {Endpoint} from '../stage.js';
import {Valve} from '../valve.js';
import type {Framing} from '../wire/framing.js';
import {flushed, nonBlocking, ownInput} from './own-fd.js';
import {fromReadable, toWritable} from './streams.js';

/** So much is read while it cannot be passed on, so as to see the client close its end. */
const LOOK_AHEAD_BYTES = 2 ** 20;

export type OwnStdio = Endpoint & {
	/** Resolves when the client has closed its end, or is gone. What it said before may be still on its way. */
	readonly ended: Promise<void>;
	/** What made reading or writing impossible, other than that the client is gone. */
	failure(): Error | undefined;
};

export type OwnStdioOptions = {
	readonly name?: string;
	readonly maxBytes?: number;
	readonly input?: Readable;
	readonly output?: Writable;
};

/** The program that started this one, on stdin and stdout. It is answered in the framing that it uses itself. */
export function ownStdio({
	name = 'client',
	maxBytes = MESSAGE_LIMIT,
	input = ownInput(),
	output = nonBlocking(1),
}: OwnStdioOptions = {}): OwnStdio {
	const origin: Origin = {name, valve: new Valve()};
	let framing: Framing = 'lines';
	const onFraming = (found: Framing): void => {
		framing = found;
	};
	let failure: Error | undefined;
	const onError = (error: NodeJS.ErrnoException): void => {
		if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') failure ??= error;
	};
	input.on('error', onError);
	output.on('error', onError);
	return {
		name,
		incoming: fromReadable(input, origin.valve, LOOK_AHEAD_BYTES).pipe(frame(origin, {maxBytes, onFraming})),
		outgoing: toWritable(output, () => framing),
		ended: new Promise(resolve => {
			const isOver = (): void => resolve();
			input.on('end', isOver).on('close', isOver).on('error', isOver);
		}),
		gone: new Promise(resolve => {
			const isOver = (): void => resolve();
			output.on('close', isOver).on('error', isOver);
		}),
		failure: () => failure,
		async close() {
			// What was said in this turn is not with the stream yet.
			await setImmediate();
			await flushed(output);
		},
	};
}
