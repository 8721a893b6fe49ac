import {type MessagePort, parentPort, receiveMessageOnPort} from 'node:worker_threads';
import {jsonComplexity} from '../../wire/json-complexity.js';
import {MAX_CALL_VALUES, MAX_NESTING} from '../value-limits.js';
import type {MessageLimits, ProgramEndReason, RunData, WorkerMessage} from './messages.js';

const LINE_FEED = 10;
const FIRST_BYTES = 8192;
/** Control characters in the output. Each becomes six characters in the result. */
const MAX_CONTROL_CHARACTERS = 65_536;
const SPACE = 32;
/** The most values of an outcome as the prelude writes it: its parts are text. */
const MAX_OUTCOME_VALUES = 16;

/** The last message of a program. All others are calls. */
const isOutcome = (text: string): boolean => text.startsWith('{"done"') || text.startsWith('{"fail"');

/**
 * A program's output: messages for this side, and text for its reader. A program can write here itself, so each message is
 * checked before it is posted. The main thread has at most one pending call of a program: the next call is accepted after the
 * program has read the reply.
 */
export class ProgramOutput {
	readonly #limits: MessageLimits;
	readonly #callBytes: Int32Array;
	readonly #length: Int32Array;
	readonly #output: Uint8Array;
	readonly #isReplyRead: () => boolean;
	/** The incomplete message: one buffer for any number of writes. */
	#line = Buffer.alloc(FIRST_BYTES);
	#lineBytes = 0;
	#hasOutcome = false;
	#controlCount = 0;
	/** The calls that were posted. */
	callCount = 0;

	constructor(
		limits: MessageLimits,
		{output, callBytes}: Pick<RunData, 'output' | 'callBytes'>,
		isReplyRead: () => boolean,
	) {
		this.#limits = limits;
		this.#callBytes = callBytes;
		this.#length = new Int32Array(output, 0, 1);
		this.#output = new Uint8Array(output, 4);
		this.#isReplyRead = isReplyRead;
	}

	write(file: number, piece: Uint8Array): void {
		if (file === 1) this.#print(piece);
		else this.#writeMessage(piece);
	}

	#print(piece: Uint8Array): void {
		const length = Atomics.load(this.#length, 0);
		const available = this.#output.length - length;
		this.#output.set(piece.subarray(0, available), length);
		Atomics.store(this.#length, 0, length + Math.min(available, piece.length));
		for (const byte of piece.subarray(0, available))
			if (byte < SPACE && byte !== LINE_FEED) this.#controlCount++;
		if (piece.length > available || this.#controlCount > MAX_CONTROL_CHARACTERS) endProgram('flood', '');
	}

	#writeMessage(piece: Uint8Array): void {
		let rest = piece;
		for (let at = rest.indexOf(LINE_FEED); at >= 0; at = rest.indexOf(LINE_FEED)) {
			this.#bufferLine(rest.subarray(0, at));
			this.#postLine();
			rest = rest.subarray(at + 1);
		}
		this.#bufferLine(rest);
	}

	/** The memory is the program's, which may change it at any time. */
	#bufferLine(piece: Uint8Array): void {
		const length = this.#lineBytes + piece.length;
		const maxLineBytes = Math.max(this.#maxCallBytes, this.#limits.maxOutcomeBytes);
		if (length > maxLineBytes) endProgram('line', String(maxLineBytes));
		if (length > this.#line.length) {
			const larger = Buffer.alloc(Math.min(maxLineBytes, Math.max(length, 2 * this.#line.length)));
			larger.set(this.#line.subarray(0, this.#lineBytes));
			this.#line = larger;
		}
		this.#line.set(piece, this.#lineBytes);
		this.#lineBytes = length;
	}

	#postLine(): void {
		const bytes = this.#line.subarray(0, this.#lineBytes);
		const line = bytes.toString();
		// An outcome gets no reply, and may come in the middle of one: the program may have run out of memory there.
		const isLast = isOutcome(line);
		if (this.#hasOutcome || !(isLast || this.#isReplyRead())) endProgram('unread', '');
		if (isLast) checkOutcome(bytes);
		else this.#countCall(bytes);
		this.#hasOutcome = isLast;
		postToMain({line});
		this.#line = Buffer.alloc(FIRST_BYTES);
		this.#lineBytes = 0;
	}

	get #maxCallBytes(): number {
		return Atomics.load(this.#callBytes, 0);
	}

	#countCall(bytes: Uint8Array): void {
		const {maxAttempts} = this.#limits;
		if (bytes.length > this.#maxCallBytes) endProgram('line', String(this.#maxCallBytes));
		const {values, depth} = jsonComplexity(bytes);
		if (values > MAX_CALL_VALUES || depth > MAX_NESTING) endProgram('values', '');
		if (++this.callCount > maxAttempts) endProgram('attempts', '');
	}
}

/** Ends a program that wrote its own outcome, which the main thread would parse at any cost. */
function checkOutcome(bytes: Uint8Array): void {
	if (jsonComplexity(bytes).values > MAX_OUTCOME_VALUES) endProgram('unread', '');
}

/** What this side says to a program, which waits for it. */
export class ProgramInput {
	readonly #port: MessagePort;
	readonly #sentCount: Int32Array;
	#rest: Uint8Array = new Uint8Array();
	readonly #expectedCount: () => number;
	#readCount = 0;

	/** `expected` tells how many messages are to come in all: when there are no more, reading is at its end. */
	constructor(port: MessagePort, sentCount: Int32Array, expectedCount: () => number) {
		this.#expectedCount = expectedCount;
		this.#port = port;
		this.#sentCount = sentCount;
	}

	/** Whether all expected messages were read. */
	get isDone(): boolean {
		return this.#rest.length === 0 && this.#readCount >= this.#expectedCount();
	}

	readInto(space: Uint8Array): number {
		while (this.#rest.length === 0) {
			if (this.#readCount >= this.#expectedCount()) return 0;
			Atomics.wait(this.#sentCount, 0, this.#readCount);
			this.#readCount++;
			this.#rest = receiveMessageOnPort(this.#port)?.message ?? new Uint8Array();
		}
		const part = this.#rest.subarray(0, space.length);
		space.set(part);
		this.#rest = this.#rest.subarray(part.length);
		return part.length;
	}
}

/** Tells the side that started this thread. */
export function postToMain(message: WorkerMessage): void {
	parentPort?.postMessage(message);
}

/** Reports why the program ends, and runs nothing of it any more. */
function endProgram(reason: ProgramEndReason, detail: string): never {
	postToMain({end: reason, detail});
	waitForTermination();
}

/**
 * Blocks this thread until the main thread terminates it. A thread that reaches the end of its event loop instead waits for
 * V8's background compilations, and one of these may wait for a garbage collection by that thread. On Node 24 such deadlocks
 * took all background threads of the process. While a thread waits here, it collects garbage on request.
 */
export function waitForTermination(): never {
	const forever = new Int32Array(new SharedArrayBuffer(4));
	for (;;) Atomics.wait(forever, 0, 0);
}
