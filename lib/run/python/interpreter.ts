import {MessageChannel, type MessagePort, Worker} from 'node:worker_threads';
import {pythonWorker} from '../../run-time-files.js';
import type {MessageLimits, ProgramEndReason, PythonSnapshot, RunData, WorkerMessage} from './messages.js';
import {confinedWorkerOptions} from './worker-options.js';

export type InterpreterLimits = MessageLimits & {readonly maxOutputBytes: number};

/** The shared memory and the port that connect both threads. */
type Channels = Pick<RunData, 'port' | 'sentCount' | 'output' | 'callBytes'>;

/** Receives the messages of a program until it ends. */
export type ProgramListener = {
	onLine(text: string): void;
	onEnd(reason: ProgramEndReason, detail: string): void;
};

/** One interpreter in its own thread, for one program. */
export class PythonInterpreter {
	readonly limits: InterpreterLimits;
	readonly #worker: Worker;
	readonly #port: MessagePort;
	readonly #sentCount: Int32Array;
	readonly #output: SharedArrayBuffer;
	readonly #callBytes: Int32Array;
	#listener: ProgramListener | undefined;

	private constructor(
		limits: InterpreterLimits,
		worker: Worker,
		{port, sentCount, output, callBytes}: Channels,
	) {
		this.limits = limits;
		this.#worker = worker;
		this.#port = port;
		this.#sentCount = sentCount;
		this.#output = output;
		this.#callBytes = callBytes;
	}

	/** Resolves when the interpreter waits for a program. */
	static async start(python: PythonSnapshot, limits: InterpreterLimits): Promise<PythonInterpreter> {
		const {maxOutputBytes, maxOutcomeBytes, maxAttempts} = limits;
		const {port1, port2} = new MessageChannel();
		const sentCount = new Int32Array(new SharedArrayBuffer(4));
		const callBytes = new Int32Array(new SharedArrayBuffer(4));
		const output = new SharedArrayBuffer(4 + maxOutputBytes);
		const data: RunData = {
			task: 'run',
			python,
			port: port2,
			sentCount,
			output,
			callBytes,
			limits: {maxOutcomeBytes, maxAttempts},
		};
		const worker = new Worker(pythonWorker, {
			...confinedWorkerOptions,
			workerData: data,
			transferList: [port2],
		});
		const interpreter = new PythonInterpreter(limits, worker, {port: port1, sentCount, output, callBytes});
		await new Promise<void>((resolve, reject) => {
			worker.on('message', (message: WorkerMessage) => {
				if ('ready' in message) resolve();
				else interpreter.#receive(message);
			});
			worker.on('error', error => {
				reject(error);
				interpreter.#listener?.onEnd('fault', error.message);
			});
			worker.on('exit', () => {
				reject(new Error('The interpreter did not start.'));
				interpreter.#listener?.onEnd('fault', 'Its thread exited.');
			});
		});
		// An idle interpreter does not keep the process alive.
		worker.unref();
		port1.unref();
		return interpreter;
	}

	/** The text that the program has printed so far. */
	get output(): string {
		const length = Atomics.load(new Int32Array(this.#output, 0, 1), 0);
		return Buffer.from(this.#output, 4, length).toString();
	}

	/** Passes the messages of the program to the listener. `maxCallBytes` limits each of its calls. */
	listen(listener: ProgramListener, maxCallBytes: number): void {
		this.#listener = listener;
		Atomics.store(this.#callBytes, 0, maxCallBytes);
		this.#worker.ref();
	}

	/**
	 * Sends JSON in several parts to the program. The message starts with its length in eight hexadecimal
	 * digits.
	 */
	send(...parts: readonly string[]): void {
		const length = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
		const bytes = new Uint8Array(8 + length);
		const target = Buffer.from(bytes.buffer);
		let at = target.write(length.toString(16).padStart(8, '0'));
		for (const part of parts) at += target.write(part, at);
		this.#port.postMessage(bytes, [bytes.buffer]);
		Atomics.add(this.#sentCount, 0, 1);
		Atomics.notify(this.#sentCount, 0);
	}

	/** Stops the program, whatever its state. */
	async terminate(): Promise<void> {
		this.#listener = undefined;
		this.#port.close();
		await this.#worker.terminate();
	}

	#receive(message: WorkerMessage): void {
		if ('line' in message) this.#listener?.onLine(message.line);
		else if ('end' in message) this.#listener?.onEnd(message.end, message.detail);
	}
}
