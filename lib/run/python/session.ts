import {MessageChannel, type MessagePort, Worker} from 'node:worker_threads';
import {pythonWorker} from '../../run-time-files.js';
import {confined} from './confined.js';
import type {Ending, MessageLimits, Python, RunData, WorkerMessage} from './messages.js';

export type SessionLimits = MessageLimits & {readonly maxOutputBytes: number};

/** The ways between the two sides. */
type Channels = Pick<RunData, 'port' | 'heard' | 'output' | 'callBytes'>;

/** Hears what a program says, until it ends. */
export type Listener = {
	line(text: string): void;
	end(why: Ending, detail: string): void;
};

/** One interpreter in one thread, for one program. */
export class Session {
	readonly limits: SessionLimits;
	readonly #worker: Worker;
	readonly #port: MessagePort;
	readonly #heard: Int32Array;
	readonly #output: SharedArrayBuffer;
	readonly #callBytes: Int32Array;
	#listener: Listener | undefined;

	private constructor(limits: SessionLimits, worker: Worker, {port, heard, output, callBytes}: Channels) {
		this.limits = limits;
		this.#worker = worker;
		this.#port = port;
		this.#heard = heard;
		this.#output = output;
		this.#callBytes = callBytes;
	}

	/** Resolves when the interpreter waits for a program. */
	static async start(python: Python, limits: SessionLimits): Promise<Session> {
		const {maxOutputBytes, maxOutcomeBytes, maxAttempts} = limits;
		const {port1, port2} = new MessageChannel();
		const heard = new Int32Array(new SharedArrayBuffer(4));
		const callBytes = new Int32Array(new SharedArrayBuffer(4));
		const output = new SharedArrayBuffer(4 + maxOutputBytes);
		const data: RunData = {
			task: 'run',
			python,
			port: port2,
			heard,
			output,
			callBytes,
			limits: {maxOutcomeBytes, maxAttempts},
		};
		const worker = new Worker(pythonWorker, {...confined, workerData: data, transferList: [port2]});
		const session = new Session(limits, worker, {port: port1, heard, output, callBytes});
		await new Promise<void>((resolve, reject) => {
			worker.on('message', (message: WorkerMessage) => {
				if ('ready' in message) resolve();
				else session.#hear(message);
			});
			worker.on('error', error => {
				reject(error);
				session.#listener?.end('fault', error.message);
			});
			worker.on('exit', () => {
				reject(new Error('An interpreter did not start.'));
				session.#listener?.end('fault', 'Its thread ended.');
			});
		});
		// An interpreter that waits keeps no process alive.
		worker.unref();
		port1.unref();
		return session;
	}

	/** What the program has printed so far. */
	get output(): string {
		const length = Atomics.load(new Int32Array(this.#output, 0, 1), 0);
		return Buffer.from(this.#output, 4, length).toString();
	}

	/** Passes the messages of the program to the listener. Its calls may have this many bytes. */
	listen(listener: Listener, maxCallBytes: number): void {
		this.#listener = listener;
		Atomics.store(this.#callBytes, 0, maxCallBytes);
		this.#worker.ref();
	}

	/** Sends JSON to the program, given in parts: a length in eight hexadecimal digits, then the JSON. */
	say(...parts: readonly string[]): void {
		const length = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
		const bytes = new Uint8Array(8 + length);
		const target = Buffer.from(bytes.buffer);
		let at = target.write(length.toString(16).padStart(8, '0'));
		for (const part of parts) at += target.write(part, at);
		this.#port.postMessage(bytes, [bytes.buffer]);
		Atomics.add(this.#heard, 0, 1);
		Atomics.notify(this.#heard, 0);
	}

	/** Ends it, whatever it is at. */
	async end(): Promise<void> {
		this.#listener = undefined;
		this.#port.close();
		await this.#worker.terminate();
	}

	#hear(message: WorkerMessage): void {
		if ('line' in message) this.#listener?.line(message.line);
		else if ('end' in message) this.#listener?.end(message.end, message.detail);
	}
}
