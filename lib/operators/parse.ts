import {Envelope} from '../core/envelope.js';
import {BridgeError} from '../core/errors.js';
import type {Log} from '../core/log.js';
import {MAX_IDENTIFIER_LENGTH, tooLongError} from '../core/requests/progress.js';
import {type Emit, perMessage, type Stage, stage} from '../core/stage.js';
import {retainedSizeError} from '../protocol/retained-size.js';
import {tooComplex} from '../protocol/too-complex.js';
import {batchElements, MAX_BATCH} from '../wire/batch.js';
import {type Flaw, isResponse} from '../wire/scan.js';
import {MAX_MESSAGE_DEPTH} from '../wire/walk.js';
import {MESSAGE_LIMIT} from './frame.js';
import {StrayOutputLog} from './parse/stray-output-log.js';

type ParseOptions = {
	readonly log: Log;
	/** Whose messages are judged: each side's right where they come in, before any stage acts on them. */
	readonly from: 'client' | 'upstream';
	readonly maxBytes?: number;
	/** Whether there is no way back to the sender, as in a filter. */
	readonly isOneWay?: boolean;
	/**
	 * Whether a malformed response of the client is an error response for the upstream. The sender of the request would wait
	 * without end otherwise.
	 */
	readonly failsResponses?: boolean;
	/** Whether an upstream leaves `jsonrpc` out of what it says, as Codex does. Whoever takes that in has to know. */
	readonly allowsMissingVersion?: boolean;
};

/**
 * Judges each message of one side, and lets no other pass.
 *
 * A client is told what is wrong. An upstream's stray output is logged, and a call whose answer cannot be passed on is
 * failed rather than left to wait.
 */
export const parse = ({from, ...options}: ParseOptions): Stage =>
	from === 'client' ? parseClient(options) : parseUpstream(options);

type SideOptions = Omit<ParseOptions, 'from'>;

function parseClient(options: SideOptions): Stage {
	const {log, maxBytes = MESSAGE_LIMIT, isOneWay = false, failsResponses = false} = options;
	const errors = new Map<Flaw, BridgeError>();
	const strayOutput = new StrayOutputLog(log, isOneWay);
	return perMessage({
		toUpstream(envelope, reply) {
			const {flaw, id} = envelope.head;
			if (flaw === undefined) return isOneWay ? envelope : withinRetainedSize(envelope, reply);
			// Of the version that has batches, or not: in a filter that is not known, and the receiver decides.
			if (isOneWay && flaw === 'a batch' && isValidBatch(envelope)) return envelope;
			strayOutput.warn('client.message.refused', envelope, flaw);
			if (isOneWay) return;
			// Made once: a flood of garbage must not cost an error with a stack each.
			const error = errors.get(flaw) ?? flawError(flaw, envelope.origin.name, maxBytes);
			errors.set(flaw, error);
			const failure = Envelope.errorResponse(id, error, envelope.origin);
			// An answer is not answered, however wrong it is.
			if (!isResponse(envelope.head)) reply(failure);
			return isErrorForUpstream(envelope, failsResponses) ? failure : undefined;
		},
	});
}

/**
 * Whether the upstream gets an error in the place of a message: for a response that is over a limit, and where `isEach` for any
 * response. A message with an id and nothing else may be meant as one.
 */
function isErrorForUpstream({head}: Envelope, failsResponses: boolean): boolean {
	const {id, method, flaw} = head;
	if (isResponse(head)) return flaw === 'too complex' || (failsResponses && id !== undefined);
	return (
		failsResponses && id !== undefined && method === undefined && flaw === 'neither request nor response'
	);
}

/** Whether a batch has messages in it, and nothing else. */
function isValidBatch(envelope: Envelope): boolean {
	const texts = batchElements(envelope.bytes, MAX_BATCH) ?? [];
	return texts.length > 0 && texts.every(text => envelope.batchElement(text).head.flaw === undefined);
}

/** The message of a client, unless a session would have to keep too much of it. */
function withinRetainedSize(envelope: Envelope, reply: Emit): Envelope | undefined {
	const error = retainedSizeError(envelope);
	if (!error) return envelope;
	reply(Envelope.errorResponse(envelope.head.id, error, envelope.origin));
	return;
}

const parseUpstream = ({log, maxBytes = MESSAGE_LIMIT, allowsMissingVersion = false}: SideOptions): Stage =>
	stage(out => {
		const strayOutput = new StrayOutputLog(log, false);
		const check = (envelope: Envelope, reply: Emit): Envelope | undefined => {
			const {flaw} = envelope.head;
			if (flaw === undefined || (allowsMissingVersion && flaw === 'not JSON-RPC 2.0'))
				return withinWordLimit(envelope, strayOutput, reply);
			strayOutput.warn(limitFlaws.has(flaw) ? 'frame.too_large' : 'child.stdout.garbage', envelope, flaw);
			const {name} = envelope.origin;
			// Made only where it is sent, since it has a stack.
			const error = (): BridgeError =>
				limitFlaws.has(flaw) ? flawError(flaw, name, maxBytes) : invalidResponse(flaw, name);
			return errorInPlaceOf(envelope, error, reply);
		};
		return {
			toClient(envelope, reply) {
				if (envelope.head.flaw !== 'a batch') return check(envelope, reply);
				const texts = batchElements(envelope.bytes);
				if (!texts) return check(envelope, reply);
				// No client reads an array but as the answer to one of its own.
				for (const text of texts) {
					const part = check(envelope.batchElement(text), reply);
					if (part) out.toClient(part);
				}
				return;
			},
		};
	});

/**
 * The error in the place of a response of an upstream. A request that is over a limit gets the error. What is meant as neither, a
 * line of a log perhaps, fails nothing.
 */
function errorInPlaceOf(
	{head, origin}: Envelope,
	error: () => BridgeError,
	reply: Emit,
): Envelope | undefined {
	const {id, method, flaw} = head;
	if (id === undefined) return;
	if (isResponse(head)) return Envelope.errorResponse(id, error(), origin);
	if (method !== undefined && flaw === 'too complex') reply(Envelope.errorResponse(id, error(), origin));
	return;
}

/** Flaws of messages that are valid, and over a limit. */
const limitFlaws: ReadonlySet<Flaw> = new Set(['too large', 'too complex']);

/** Made once, as above. */
const tooLongErrors = {id: tooLongError('id'), method: tooLongError('method')} as const;

/**
 * The message of an upstream, unless it is a request or notification with an id or a method that is too long: stages keep
 * these until the client responds. The id of a response is only looked up.
 */
function withinWordLimit(envelope: Envelope, strayOutput: StrayOutputLog, reply: Emit): Envelope | undefined {
	const {id, method} = envelope.head;
	if (method === undefined) return envelope;
	if (method.length <= MAX_IDENTIFIER_LENGTH && (id === undefined || id.length <= MAX_IDENTIFIER_LENGTH))
		return envelope;
	const word = method.length > MAX_IDENTIFIER_LENGTH ? 'method' : 'id';
	strayOutput.warn('child.stdout.garbage', envelope, `a message whose ${word} is too long`);
	if (id !== undefined) reply(Envelope.errorResponse(id, tooLongErrors[word], envelope.origin));
	return;
}

function flawError(flaw: Flaw, sender: string, maxBytes: number): BridgeError {
	const what = `${capitalize(sender)} sent something that is ${flaw}`;
	switch (flaw) {
		case 'not JSON':
			return new BridgeError(
				'ERR_MESSAGE_MALFORMED',
				`${what}.`,
				'Send one JSON-RPC message a line, in UTF-8.',
			);
		case 'too large':
			return new BridgeError(
				'ERR_MESSAGE_TOO_LARGE',
				`${capitalize(sender)} sent a message of more than ${maxBytes} bytes (limits.message).`,
				'Send it in smaller parts, or raise that limit.',
				{limit: maxBytes},
			);
		case 'too complex':
			return tooComplex(capitalize(sender));
		case 'nested too deep':
			return invalidMessage(`${what}: more than ${MAX_MESSAGE_DEPTH} levels.`, 'Send a flatter message.');
		case 'a repeated key':
			return invalidMessage(
				`${capitalize(sender)} sent a message that has a key twice at its top level, or has name, uri, arguments, _meta or requestId twice in its params.`,
				'Send each key once: peers disagree on which of two counts.',
			);
		case 'an id of the wrong type':
			return invalidMessage(
				`${capitalize(sender)} sent a message with an id that is neither string nor number.`,
				'Send a string or a number as the id, or none for a notification.',
			);
		default:
			return invalidMessage(`${what}.`, 'Send JSON-RPC 2.0: {"jsonrpc":"2.0","id":1,"method":"…"}.');
	}
}

const invalidResponse = (flaw: Flaw, upstream: string): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_INVALID',
		`${upstream} answered with something that is ${flaw}, which cannot be passed on.`,
		'Tell whoever makes that server; the log on stderr shows how it begins.',
	);

const invalidMessage = (message: string, remedy: string): BridgeError =>
	new BridgeError('ERR_MESSAGE_INVALID', message, remedy);

const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
