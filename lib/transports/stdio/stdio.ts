import type {Readable, Writable} from 'node:stream';
import {setImmediate} from 'node:timers/promises';
import type {MessageOrigin} from '../../core/envelope.js';
import type {Endpoint} from '../../core/stage.js';
import {Valve} from '../../core/valve.js';
import {frame, MESSAGE_LIMIT} from '../../operators/frame.js';
import type {Framing} from '../../wire/framing.js';
import {fromReadable, toWritable} from './message-streams.js';
import {nonBlockingOutput, openStdin, whenFlushed} from './own-fds.js';

/** Bytes that are read under backpressure, to detect that the client has closed its end. */
const READ_AHEAD_BYTES = 2 ** 20;

export type StdioEndpoint = Endpoint & {
	/** Resolves when the client has closed stdin. Earlier messages may not be delivered yet. */
	readonly inputEnded: Promise<void>;
	/** The first error of stdin or stdout, other than a disconnect. */
	failure(): Error | undefined;
};

type StdioOptions = {
	readonly name?: string;
	readonly maxBytes?: number;
	readonly input?: Readable;
	readonly output?: Writable;
};

/**
 * The endpoint of the client on stdin and stdout. Messages are written in the framing that the client uses.
 */
export function stdioEndpoint({
	name = 'client',
	maxBytes = MESSAGE_LIMIT,
	input = openStdin(),
	output = nonBlockingOutput(1),
}: StdioOptions = {}): StdioEndpoint {
	const origin: MessageOrigin = {name, valve: new Valve()};
	let framing: Framing = 'lines';
	const onFraming = (detected: Framing): void => {
		framing = detected;
	};
	let failure: Error | undefined;
	const onError = (error: NodeJS.ErrnoException): void => {
		if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') failure ??= error;
	};
	input.on('error', onError);
	output.on('error', onError);
	return {
		name,
		incoming: fromReadable(input, origin.valve, READ_AHEAD_BYTES).pipe(frame(origin, {maxBytes, onFraming})),
		outgoing: toWritable(output, () => framing),
		inputEnded: new Promise(resolve => {
			const onEnd = (): void => resolve();
			input.on('end', onEnd).on('close', onEnd).on('error', onEnd);
		}),
		disconnected: new Promise(resolve => {
			const onEnd = (): void => resolve();
			output.on('close', onEnd).on('error', onEnd);
		}),
		failure: () => failure,
		async close() {
			// Messages of this turn are not written to the stream yet.
			await setImmediate();
			await whenFlushed(output);
		},
	};
}
