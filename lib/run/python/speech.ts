import {type MessagePort, parentPort, receiveMessageOnPort} from 'node:worker_threads';
import type {WorkerMessage} from './messages.js';

const LINE_FEED = 10;

/** What a program says: lines for this side, and text for its reader. */
export class Speech {
	readonly #maxLineBytes: number;
	readonly #length: Int32Array;
	readonly #output: Uint8Array;
	#line: Buffer[] = [];
	#lineBytes = 0;
	/** How many lines have been said. */
	lines = 0;

	constructor(maxLineBytes: number, output: SharedArrayBuffer) {
		this.#maxLineBytes = maxLineBytes;
		this.#length = new Int32Array(output, 0, 1);
		this.#output = new Uint8Array(output, 4);
	}

	take(file: number, piece: Uint8Array): void {
		if (file === 1) this.#print(piece);
		else this.#say(piece);
	}

	#print(piece: Uint8Array): void {
		const length = Atomics.load(this.#length, 0);
		const room = this.#output.length - length;
		this.#output.set(piece.subarray(0, room), length);
		Atomics.store(this.#length, 0, length + Math.min(room, piece.length));
		if (piece.length > room) end('flood', '');
	}

	#say(piece: Uint8Array): void {
		let rest = piece;
		for (let at = rest.indexOf(LINE_FEED); at >= 0; at = rest.indexOf(LINE_FEED)) {
			this.#keep(rest.subarray(0, at));
			this.lines++;
			post({line: Buffer.concat(this.#line).toString()});
			this.#line = [];
			this.#lineBytes = 0;
			rest = rest.subarray(at + 1);
		}
		this.#keep(rest);
	}

	/** The memory is the program's, which may change it at any time. */
	#keep(piece: Uint8Array): void {
		this.#lineBytes += piece.length;
		if (this.#lineBytes > this.#maxLineBytes) end('line', '');
		if (piece.length > 0) this.#line.push(Buffer.from(piece));
	}
}

/** What this side says to a program, which waits for it. */
export class Hearing {
	readonly #port: MessagePort;
	readonly #heard: Int32Array;
	#rest: Uint8Array = new Uint8Array();
	readonly #expected: () => number;
	#count = 0;

	/** `expected` tells how many messages are to come in all: when there are no more, reading is at its end. */
	constructor(port: MessagePort, heard: Int32Array, expected: () => number) {
		this.#expected = expected;
		this.#port = port;
		this.#heard = heard;
	}

	into(space: Uint8Array): number {
		while (this.#rest.length === 0) {
			if (this.#count >= this.#expected()) return 0;
			Atomics.wait(this.#heard, 0, this.#count);
			this.#count++;
			this.#rest = receiveMessageOnPort(this.#port)?.message ?? new Uint8Array();
		}
		const part = this.#rest.subarray(0, space.length);
		space.set(part);
		this.#rest = this.#rest.subarray(part.length);
		return part.length;
	}
}

/** Tells the side that started this thread. */
export function post(message: WorkerMessage): void {
	parentPort?.postMessage(message);
}

/** Nothing of the program runs any more; whoever waits for it ends this thread. */
function end(why: 'flood' | 'line', detail: string): never {
	post({end: why, detail});
	const forever = new Int32Array(new SharedArrayBuffer(4));
	for (;;) Atomics.wait(forever, 0, 0);
}
