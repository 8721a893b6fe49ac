import {canonicalId} from '../wire/id.js';
import {marks} from '../wire/marks.js';
import type {Oversized} from '../wire/oversized.js';
import {flawedHead, type MessageHead, scanMessage, scanMessageParts} from '../wire/scan.js';
import type {BridgeError} from './errors.js';
import {Valve} from './valve.js';

/** A JSON-RPC message as a plain value. Never changed in place: see {@link Envelope.with}. */
export type Body = {readonly [key: string]: unknown};

/** Headers of HTTP, with their names in lower case. */
export type Headers = {readonly [name: string]: string};

/** What an HTTP request was answered with, where that was no message. */
export type HttpErrorReply = {readonly status: number; readonly headers: Headers; readonly body: Buffer};

/** Who a message came from. */
export type MessageOrigin = {
	readonly name: string;
	/** Shut by whoever cannot take the message, which stops this origin from sending more. */
	readonly valve: Valve;
	/** The headers that it came with, where its transport has headers. */
	readonly headers?: Headers;
	/** The id of the request that the other side said this in the course of, where the transport tells. */
	readonly relatedRequestId?: string;
	/** How the request was refused that this answers, where its transport did that. */
	readonly errorReply?: HttpErrorReply;
};

/** The origin of messages that bridge makes of its own accord. Nothing reads, so nothing is stopped. */
export const bridgeOrigin: MessageOrigin = {name: 'bridge', valve: new Valve()};

const LF = 0x0a;
const QUOTE = 0x22;
const NEWLINE = Buffer.from([LF]);

/**
 * One message on its way through a pipeline.
 *
 * It keeps the line it was received as and leaves as that line, so a message nobody changes is never parsed and never
 * written out anew. Reading `head` walks over the bytes once; reading `body` parses them, once.
 */
export class Envelope {
	#origin: MessageOrigin;
	/** What the message was before stages changed it: itself, if none has. */
	readonly original: Envelope;
	/** Whether it came from a peer, rather than being made or changed here. */
	readonly isReceived: boolean;
	/**
	 * Whether it is an answer of bridge's own to something that the upstream was never asked, or has done with. It stays
	 * that when stages change it.
	 */
	isFinalResponse: boolean;
	/** Whether it was found to need nothing but to be passed on: see everyday.ts. */
	isFastPath = false;
	/** What it is to leave with, where its transport has headers. Only the last stages set them: a changed copy has none. */
	headers: Headers | undefined;
	#line: Buffer | undefined;
	/** The parts of the line, as long as nobody needs it in one. */
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

	/** Says where this comes from, which is known only now. Nobody else has seen it yet. */
	setOrigin(origin: MessageOrigin): this {
		this.#origin = origin;
		return this;
	}

	/** A message from a peer: a line with its line feed. */
	static received(line: Buffer, origin: MessageOrigin): Envelope {
		return new Envelope(origin, 'peer', line);
	}

	/** The same, given as the parts of that line. */
	static receivedInParts(parts: readonly Buffer[], origin: MessageOrigin): Envelope {
		const envelope = new Envelope(origin, 'peer');
		envelope.#parts = parts;
		return envelope;
	}

	/** What is left of a message over the limit: its first bytes, its id where that was seen, and whether it is an answer. */
	static tooLarge(start: Buffer, {id, isResponse}: Oversized, origin: MessageOrigin): Envelope {
		const envelope = new Envelope(origin, 'peer', start);
		envelope.#head = flawedHead('too large', id, isResponse);
		return envelope;
	}

	/** What came where a text was expected, and is none. */
	static notText(bytes: Buffer, origin: MessageOrigin): Envelope {
		const envelope = new Envelope(origin, 'peer', bytes);
		envelope.#head = flawedHead('not JSON');
		return envelope;
	}

	/** A message that bridge makes, because of one from `origin`: what it causes stops whoever caused it. */
	static of(body: Body, origin: MessageOrigin = bridgeOrigin): Envelope {
		return new Envelope(origin, 'bridge', undefined, body);
	}

	/** The same, given as JSON: for ids, which only their own text tells apart. */
	static fromText(json: string, origin: MessageOrigin = bridgeOrigin): Envelope {
		return new Envelope(origin, 'bridge', Buffer.from(`${json}\n`));
	}

	/** The answer to the request with this id, as text: a result or an error. The upstream will not give another. */
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

	/** The answer to a request whose id is this text. */
	static errorResponse(
		id: string | undefined,
		error: BridgeError,
		origin: MessageOrigin = bridgeOrigin,
	): Envelope {
		const rpc = JSON.stringify(error.toRpc());
		return Envelope.fromText(`{"jsonrpc":"2.0","id":${id ?? 'null'},"error":${rpc}}`, origin);
	}

	/** The message as one line, line feed included. */
	get line(): Buffer {
		this.#line ??= this.#parts ? Buffer.concat(this.#parts) : Buffer.from(`${JSON.stringify(this.#body)}\n`);
		this.#parts = undefined;
		return this.#line;
	}

	/** The line in parts, where it came in parts and nobody has asked for it as one. */
	get parts(): readonly Buffer[] | undefined {
		return this.#parts;
	}

	/** The message alone. */
	get bytes(): Buffer {
		return this.line.subarray(0, this.size);
	}

	/** The same, in the parts that it came in unless somebody has asked for it as one. */
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

	/** What the message is about, and whether it is one. Never throws. */
	get head(): MessageHead {
		this.#head ??= this.#parts ? scanMessageParts(this.#parts, this.size) : scanMessage(this.line, this.size);
		return this.#head;
	}

	/** The message as a value. Only to be asked for when `head` has no flaw. */
	get body(): Body {
		this.#body ??= JSON.parse(this.line.toString()) as Body;
		return this.#body;
	}

	/** The same message with another body. */
	with(body: Body): Envelope {
		return new Envelope(this.origin, this, undefined, body);
	}

	/** One message of this one, which is a batch. */
	batchElement(text: Buffer): Envelope {
		return new Envelope(this.origin, this, Buffer.concat([text, NEWLINE]));
	}

	/** The same message as another text. */
	withText(json: string): Envelope {
		return new Envelope(this.origin, this, Buffer.from(`${json}\n`));
	}

	/** The same message, byte for byte, under another id. */
	withId(id: string): Envelope {
		const {idStart: idAt, id: old = ''} = this.head;
		return this.withTextAt([idAt, idAt + Buffer.byteLength(old)], id);
	}

	/** The same message, byte for byte, with another text between two positions. */
	withTextAt([start, end]: readonly [start: number, end: number], text: string): Envelope {
		return new Envelope(this.origin, this, spliceText(this.line, [start, end], text));
	}

	/**
	 * The same message as a peer of another origin would have sent it, under another id if one is given: for who speaks to
	 * many in the name of one. What is known of it stays known.
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

/** What is to be noted of a message with this id. */
const idMarks = (id: string): number =>
	id.charCodeAt(0) === QUOTE || String(Number(id)) === id ? 0 : marks.inexactNumber;

/** Bytes with a text between two positions. */
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

/** Bytes in parts, with other ones between two positions. Nothing is copied. */
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
