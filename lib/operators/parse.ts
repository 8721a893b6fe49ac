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
	/** The side whose messages are checked. The stage must be next to that side. */
	readonly from: 'client' | 'upstream';
	readonly maxBytes?: number;
	/** Whether replies to the sender are impossible, as in a filter. */
	readonly isOneWay?: boolean;
	/**
	 * Whether the upstream gets an error response for a malformed response of the client. Otherwise its request
	 * would stay pending.
	 */
	readonly failsResponses?: boolean;
	/** Whether messages of the upstream may lack `jsonrpc`, as those of Codex do. */
	readonly allowsMissingVersion?: boolean;
};

/**
 * Forwards only valid messages of one side.
 *
 * A client gets an error for an invalid message. Stray output of an upstream is logged. An invalid response
 * of an upstream becomes an error response, so that no request stays pending.
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
			// A filter cannot detect the protocol version, so the receiver decides whether batches are allowed.
			if (isOneWay && flaw === 'a batch' && isValidBatch(envelope)) return envelope;
			strayOutput.warn('client.message.refused', envelope, flaw);
			if (isOneWay) return;
			// Cached, because creating an error with a stack for each message of a flood is slow.
			const error = errors.get(flaw) ?? flawError(flaw, envelope.origin.name, maxBytes);
			errors.set(flaw, error);
			const failure = Envelope.errorResponse(id, error, envelope.origin);
			// JSON-RPC forbids replies to a response, even to an invalid one.
			if (!isResponse(envelope.head)) reply(failure);
			return isErrorForUpstream(envelope, failsResponses) ? failure : undefined;
		},
	});
}

/**
 * Whether an error response replaces an invalid message for the upstream: for too complex responses, and with
 * `failsResponses` for all responses. A message with only an id counts as a response.
 */
function isErrorForUpstream({head}: Envelope, failsResponses: boolean): boolean {
	const {id, method, flaw} = head;
	if (isResponse(head)) return flaw === 'too complex' || (failsResponses && id !== undefined);
	return (
		failsResponses && id !== undefined && method === undefined && flaw === 'neither request nor response'
	);
}

/** Whether all elements of a batch are valid messages, and there is at least one. */
function isValidBatch(envelope: Envelope): boolean {
	const texts = batchElements(envelope.bytes, MAX_BATCH) ?? [];
	return texts.length > 0 && texts.every(text => envelope.batchElement(text).head.flaw === undefined);
}

/** Rejects a message with parts that the session retains and that exceed a limit. */
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
			// Lazy, because creating an error with a stack is slow.
			const error = (): BridgeError =>
				limitFlaws.has(flaw) ? flawError(flaw, name, maxBytes) : invalidResponse(flaw, name);
			return errorInPlaceOf(envelope, error, reply);
		};
		return {
			toClient(envelope, reply) {
				if (envelope.head.flaw !== 'a batch') return check(envelope, reply);
				const texts = batchElements(envelope.bytes);
				if (!texts) return check(envelope, reply);
				// Clients accept an array only as the response to their own batch.
				for (const text of texts) {
					const part = check(envelope.batchElement(text), reply);
					if (part) out.toClient(part);
				}
				return;
			},
		};
	});

/**
 * The error response that replaces an invalid response of an upstream. A too complex server request gets the
 * error as its reply. Anything else, for example a log line, is dropped.
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

/** Flaws of valid messages that exceed a limit. */
const limitFlaws: ReadonlySet<Flaw> = new Set(['too large', 'too complex']);

/** Created once, because an error has a stack. */
const tooLongErrors = {id: tooLongError('id'), method: tooLongError('method')} as const;

/**
 * Rejects requests and notifications with a too long id or method, because stages store these until the
 * client responds. The id of a response is only looked up.
 */
function withinWordLimit(envelope: Envelope, strayOutput: StrayOutputLog, reply: Emit): Envelope | undefined {
	const {id, method} = envelope.head;
	if (method === undefined) return envelope;
	if (method.length <= MAX_IDENTIFIER_LENGTH && (id === undefined || id.length <= MAX_IDENTIFIER_LENGTH))
		return envelope;
	const word = method.length > MAX_IDENTIFIER_LENGTH ? 'method' : 'id';
	strayOutput.warn('child.stdout.garbage', envelope, `its ${word} is too long`);
	if (id !== undefined) reply(Envelope.errorResponse(id, tooLongErrors[word], envelope.origin));
	return;
}

function flawError(flaw: Flaw, sender: string, maxBytes: number): BridgeError {
	const what = `${capitalize(sender)} sent an invalid message (${flaw})`;
	switch (flaw) {
		case 'not JSON':
			return new BridgeError(
				'ERR_MESSAGE_MALFORMED',
				`${what}.`,
				'Send one JSON-RPC message per line, in UTF-8.',
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
				`${capitalize(sender)} sent a message with a repeated key at its top level, or with a repeated name, uri, arguments, _meta or requestId in its params.`,
				'Send each key once: parsers disagree on which duplicate counts.',
			);
		case 'an id of the wrong type':
			return invalidMessage(
				`${capitalize(sender)} sent a message with an id that is neither a string nor a number.`,
				'Send a string or a number as the id, or omit the id for a notification.',
			);
		default:
			return invalidMessage(`${what}.`, 'Send JSON-RPC 2.0: {"jsonrpc":"2.0","id":1,"method":"…"}.');
	}
}

const invalidResponse = (flaw: Flaw, upstream: string): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_INVALID',
		`${upstream} sent an invalid response (${flaw}), which cannot be forwarded.`,
		'Report it to the author of that server; the log on stderr shows the start of the response.',
	);

const invalidMessage = (message: string, remedy: string): BridgeError =>
	new BridgeError('ERR_MESSAGE_INVALID', message, remedy);

const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
