import {canonicalId} from '../wire/id.js';
import {marks} from '../wire/marks.js';
import type {Oversized} from '../wire/oversized.js';
import {flawedHead, type MessageHead, scanMessage, scanMessageParts} from '../wire/scan.js';
import type {BridgeError} from './errors.js';
import {Valve} from './valve.js';

/** A JSON-RPC message as a plain object. Never mutated: see {@link Envelope.with}. */
export type Body = {readonly [key: string]: unknown};

/** HTTP headers, with names in lower case. */
export type Headers = {readonly [name: string]: string};

/** An HTTP error reply without a JSON-RPC message. */
export type HttpErrorReply = {readonly status: number; readonly headers: Headers; readonly body: Buffer};

export type MessageOrigin = {
	readonly name: string;
	/** Shut while a receiver cannot accept the message. This origin then stops reading. */
	readonly valve: Valve;
	readonly headers?: Headers;
	/** The id of the request during which the peer sent the message, if the transport provides it. */
	readonly relatedRequestId?: string;
	/** The HTTP error reply that this message was made from, if any. */
	readonly errorReply?: HttpErrorReply;
};

/** The origin of messages that bridge creates itself. Its valve has no effect. */
export const bridgeOrigin: MessageOrigin = {name: 'bridge', valve: new Valve()};

const LF = 0x0a;
const QUOTE = 0x22;
const NEWLINE = Buffer.from([LF]);

/**
 * One message in a pipeline.
 *
 * It keeps the line that was received and is sent as that line. A message that no stage changes is never
 * parsed and never serialized. `head` scans the bytes once, on first access; `body` parses them once.
 */
export class Envelope {
	#origin: MessageOrigin;
	/** The message before any stage changed it: itself, if none did. */
	readonly original: Envelope;
	/** Whether it was received from a peer rather than created or changed by bridge. */
	readonly isReceived: boolean;
	/**
	 * Whether it is a response that bridge created for a request that the upstream never received or has
	 * finished with. Changed copies keep the flag.
	 */
	isFinalResponse: boolean;
	/** Whether it needs nothing but forwarding: see fast-path.ts. */
	isFastPath = false;
	/**
	 * The headers to send, if the transport has headers. Only the last stages set them; changed copies have
	 * none.
	 */
	headers: Headers | undefined;
	#line: Buffer | undefined;
	/** The parts of the line until `line` is first read. */
	#parts: readonly Buffer[] | undefined;
	#head: MessageHead | undefined;
	#body: Body | undefined;

	private constructor(origin: MessageOrigin, from: Envelope | 'peer' | 'bridge', line?: Buffer, body?: Body) {
		this.#origin = origin;
		this.original = typeof from === 'string' ? this : from.original;
		this.isReceived = from === 'peer';
		this.isFinalResponse = typeof from !== 'string' && from.isFinalResponse;
		this.#line = line;
		this.#body = body;
	}

	get origin(): MessageOrigin {
		return this.#origin;
	}

	/** Sets the origin. For a message that no stage has received yet. */
	setOrigin(origin: MessageOrigin): this {
		this.#origin = origin;
		return this;
	}

	/** A message from a peer: a line including its line feed. */
	static received(line: Buffer, origin: MessageOrigin): Envelope {
		return new Envelope(origin, 'peer', line);
	}

	/** A message from a peer, as the parts of its line. */
	static receivedInParts(parts: readonly Buffer[], origin: MessageOrigin): Envelope {
		const envelope = new Envelope(origin, 'peer');
		envelope.#parts = parts;
		return envelope;
	}

	/**
	 * A message over the size limit: its first bytes, its id if it was found, and whether it is a response.
	 */
	static tooLarge(start: Buffer, {id, isResponse}: Oversized, origin: MessageOrigin): Envelope {
		const envelope = new Envelope(origin, 'peer', start);
		envelope.#head = flawedHead('too large', id, isResponse);
		return envelope;
	}

	/** A binary message where text was expected. */
	static notText(bytes: Buffer, origin: MessageOrigin): Envelope {
		const envelope = new Envelope(origin, 'peer', bytes);
		envelope.#head = flawedHead('not JSON');
		return envelope;
	}

	/**
	 * A message that bridge creates because of one from `origin`. Backpressure on it applies to that origin.
	 */
	static of(body: Body, origin: MessageOrigin = bridgeOrigin): Envelope {
		return new Envelope(origin, 'bridge', undefined, body);
	}

	/** A message that bridge creates, as JSON text. Keeps the exact spelling of ids. */
	static fromText(json: string, origin: MessageOrigin = bridgeOrigin): Envelope {
		return new Envelope(origin, 'bridge', Buffer.from(`${json}\n`));
	}

	/** The final response to a request. `id` is JSON text. No response from the upstream follows. */
	static response(
		id: string,
		member: 'result' | 'error',
		value: unknown,
		origin: MessageOrigin = bridgeOrigin,
		write: (value: unknown) => string = JSON.stringify,
	): Envelope {
		const json = `{"jsonrpc":"2.0","id":${id},"${member}":${write(value)}}`;
		const envelope = Envelope.fromText(json, origin);
		envelope.isFinalResponse = true;
		return envelope;
	}

	/** An error response. `id` is JSON text. */
	static errorResponse(
		id: string | undefined,
		error: BridgeError,
		origin: MessageOrigin = bridgeOrigin,
	): Envelope {
		const rpc = JSON.stringify(error.toRpc());
		return Envelope.fromText(`{"jsonrpc":"2.0","id":${id ?? 'null'},"error":${rpc}}`, origin);
	}

	/** The message as one line, including the line feed. */
	get line(): Buffer {
		this.#line ??= this.#parts ? Buffer.concat(this.#parts) : Buffer.from(`${JSON.stringify(this.#body)}\n`);
		this.#parts = undefined;
		return this.#line;
	}

	/** The parts of the line, if it was received in parts and `line` was not read yet. */
	get parts(): readonly Buffer[] | undefined {
		return this.#parts;
	}

	/** The message without its line feed. */
	get bytes(): Buffer {
		return this.line.subarray(0, this.size);
	}

	/**
	 * The message without its line feed, in the parts that it was received in if they are still available.
	 */
	get bytesInParts(): readonly Buffer[] {
		const last = this.#parts?.at(-1);
		if (!this.#parts || !last) return [this.bytes];
		const leading = this.#parts.slice(0, -1);
		return last.length > 1 ? [...leading, last.subarray(0, -1)] : leading;
	}

	get size(): number {
		if (this.#parts) return this.#parts.reduce((sum, part) => sum + part.length, 0) - 1;
		const {line} = this;
		return line[line.length - 1] === LF ? line.length - 1 : line.length;
	}

	/** The id, method and kind of the message, and its flaw if it is invalid. Never throws. */
	get head(): MessageHead {
		this.#head ??= this.#parts ? scanMessageParts(this.#parts, this.size) : scanMessage(this.line, this.size);
		return this.#head;
	}

	/** The parsed message. Must only be read if `head` has no flaw. */
	get body(): Body {
		this.#body ??= JSON.parse(this.line.toString()) as Body;
		return this.#body;
	}

	with(body: Body): Envelope {
		return new Envelope(this.origin, this, undefined, body);
	}

	batchElement(text: Buffer): Envelope {
		return new Envelope(this.origin, this, Buffer.concat([text, NEWLINE]));
	}

	withText(json: string): Envelope {
		return new Envelope(this.origin, this, Buffer.from(`${json}\n`));
	}

	/** Returns the message with another id. All other bytes stay the same. */
	withId(id: string): Envelope {
		const {idStart: idAt, id: old = ''} = this.head;
		return this.withTextAt([idAt, idAt + Buffer.byteLength(old)], id);
	}

	/** Returns the message with the bytes between two positions replaced. */
	withTextAt([start, end]: readonly [start: number, end: number], text: string): Envelope {
		return new Envelope(this.origin, this, spliceText(this.line, [start, end], text));
	}

	/**
	 * Returns the message as if another origin had sent it, optionally with another id. For shared upstreams
	 * that send for many clients. The scanned head is reused.
	 */
	forwardedAs(origin: MessageOrigin, id = this.head.id): Envelope {
		const {head} = this;
		const forwarded = new Envelope(origin, 'peer', this.#parts ? undefined : this.line);
		forwarded.#parts = this.#parts;
		forwarded.#head = head;
		if (id === undefined || id === head.id) return forwarded;
		const range = [head.idStart, head.idStart + Buffer.byteLength(head.id ?? '')] as const;
		if (this.#parts) forwarded.#parts = spliceParts(this.#parts, range, Buffer.from(id));
		else forwarded.#line = spliceText(this.line, range, id);
		const {idStart: idAt, method, hasResult, hasError, flaw} = head;
		const combinedMarks = head.marks | idMarks(id);
		forwarded.#head = {
			id,
			key: canonicalId(id),
			idStart: idAt,
			method,
			hasResult,
			hasError,
			marks: combinedMarks,
			flaw,
		};
		return forwarded;
	}
}

const idMarks = (id: string): number =>
	id.charCodeAt(0) === QUOTE || String(Number(id)) === id ? 0 : marks.inexactNumber;

/** Returns a copy of the bytes with a range replaced. */
function spliceText(
	bytes: Buffer,
	[start, end]: readonly [start: number, end: number],
	text: string,
): Buffer {
	const length = Buffer.byteLength(text);
	const result = Buffer.allocUnsafe(bytes.length - (end - start) + length);
	bytes.copy(result, 0, 0, start);
	result.write(text, start);
	bytes.copy(result, start + length, end);
	return result;
}

/** Replaces a range of bytes in parts. Copies nothing. */
function spliceParts(
	parts: readonly Buffer[],
	[start, end]: readonly [start: number, end: number],
	bytes: Buffer,
): Buffer[] {
	const result: Buffer[] = [];
	let at = 0;
	for (const part of parts) {
		const [from, to] = [start - at, end - at];
		if (from > 0) result.push(part.subarray(0, from));
		if (from >= 0 && from < part.length) result.push(bytes);
		if (to < part.length) result.push(part.subarray(Math.max(0, to)));
		at += part.length;
	}
	return result;
}
