import {type MessagePort, parentPort, receiveMessageOnPort} from 'node:worker_threads';
import {jsonComplexity} from '../../wire/json-complexity.js';
import {MAX_CALL_VALUES, MAX_NESTING} from '../value-limits.js';
import type {MessageLimits, ProgramEndReason, RunData, WorkerMessage} from './messages.js';

const LINE_FEED = 10;
const FIRST_BYTES = 8192;
/** Maximum number of control characters in the output. Each takes six characters in the result. */
const MAX_CONTROL_CHARACTERS = 65_536;
const SPACE = 32;
/** Maximum number of JSON values in an outcome. The prelude writes its parts as text. */
const MAX_OUTCOME_VALUES = 16;

/** Whether this is the last message of a program. All others are calls. */
const isOutcome = (text: string): boolean => text.startsWith('{"done"') || text.startsWith('{"fail"');

/**
 * The output of a program: messages to bridge, and printed text. Programs can write messages themselves, so
 * each message is checked before it is posted. A program has at most one pending call: the next call is
 * accepted only after the program has read the reply.
 */
export class ProgramOutput {
	readonly #limits: MessageLimits;
	readonly #callBytes: Int32Array;
	readonly #length: Int32Array;
	readonly #output: Uint8Array;
	readonly #isReplyRead: () => boolean;
	/** The incomplete message. One buffer for any number of writes. */
	#line = Buffer.alloc(FIRST_BYTES);
	#lineBytes = 0;
	#hasOutcome = false;
	#controlCount = 0;
	/** The number of posted calls. */
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

	/** Copies the piece, since the program can change its memory at any time. */
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
		// An outcome gets no reply. It may arrive while a reply is partly read, if the program ran out of
		// memory there.
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

/**
 * Ends a program that forged an outcome with many values, which would be expensive to parse on the main
 * thread.
 */
function checkOutcome(bytes: Uint8Array): void {
	if (jsonComplexity(bytes).values > MAX_OUTCOME_VALUES) endProgram('unread', '');
}

/** Messages from bridge to a program. Reading blocks. */
export class ProgramInput {
	readonly #port: MessagePort;
	readonly #sentCount: Int32Array;
	#rest: Uint8Array = new Uint8Array();
	readonly #expectedCount: () => number;
	#readCount = 0;

	/** `expectedCount` returns the total number of messages. After that many, reads return end of file. */
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

/** Posts a message to the main thread. */
export function postToMain(message: WorkerMessage): void {
	parentPort?.postMessage(message);
}

/** Reports the reason and stops the program. */
function endProgram(reason: ProgramEndReason, detail: string): never {
	postToMain({end: reason, detail});
	waitForTermination();
}

/**
 * Blocks this thread until the main thread terminates it. A thread that exits on its own waits for V8's
 * background compilations, which may wait for a garbage collection by that thread. On Node 24, such deadlocks
 * blocked all background threads of the process. A thread that waits here collects garbage on request.
 */
export function waitForTermination(): never {
	const forever = new Int32Array(new SharedArrayBuffer(4));
	for (;;) Atomics.wait(forever, 0, 0);
}
