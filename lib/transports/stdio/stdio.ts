import type {Readable, Writable} from 'node:stream';
import {setImmediate} from 'node:timers/promises';
import type {MessageOrigin} from '../../core/envelope.js';
import type {Endpoint} from '../../core/stage.js';
import {Valve} from '../../core/valve.js';
import {frame, MESSAGE_LIMIT} from '../../operators/frame.js';
import type {Framing} from '../../wire/framing.js';
import {fromReadable, toWritable} from './message-streams.js';
import {nonBlockingOutput, openStdin, whenFlushed} from './own-fds.js';

/** So much is read while it cannot be passed on, so as to see the client close its end. */
const READ_AHEAD_BYTES = 2 ** 20;

export type StdioEndpoint = Endpoint & {
	/** Resolves when the client has closed its end, or is gone. What it said before may be still on its way. */
	readonly inputEnded: Promise<void>;
	/** What made reading or writing impossible, other than that the client is gone. */
	failure(): Error | undefined;
};

type StdioOptions = {
	readonly name?: string;
	readonly maxBytes?: number;
	readonly input?: Readable;
	readonly output?: Writable;
};

/** The program that started this one, on stdin and stdout. It is answered in the framing that it uses itself. */
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
			const isOver = (): void => resolve();
			input.on('end', isOver).on('close', isOver).on('error', isOver);
		}),
		disconnected: new Promise(resolve => {
			const isOver = (): void => resolve();
			output.on('close', isOver).on('error', isOver);
		}),
		failure: () => failure,
		async close() {
			// What was said in this turn is not with the stream yet.
			await setImmediate();
			await whenFlushed(output);
		},
	};
}
