import {MAX_WORD, tooLong} from '../awaited-progress.js';
import {Envelope} from '../envelope.js';
import {BridgeError} from '../errors.js';
import type {Log} from '../log.js';
import {keptProblem} from '../protocol/kept.js';
import {tooComplex} from '../protocol/too-complex.js';
import {type Answer, perMessage, type Stage, stage} from '../stage.js';
import {elements, MAX_BATCH} from '../wire/batch.js';
import {type Flaw, isAnswer} from '../wire/scan.js';
import {MAX_DEPTH} from '../wire/walk.js';
import {MESSAGE_LIMIT} from './frame.js';
import {StrayNotes} from './stray-notes.js';

export type ParseOptions = {
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
	readonly lacksVersion?: boolean;
};

/**
 * Judges each message of one side, and lets no other pass.
 *
 * A client is told what is wrong. An upstream's stray output is logged, and a call whose answer cannot be passed on is
 * failed rather than left to wait.
 */
export const parse = ({from, ...options}: ParseOptions): Stage =>
	from === 'client' ? parseClient(options) : parseUpstream(options);

type Options = Omit<ParseOptions, 'from'>;

function parseClient(options: Options): Stage {
	const {log, maxBytes = MESSAGE_LIMIT, isOneWay = false, failsResponses = false} = options;
	const problems = new Map<Flaw, BridgeError>();
	const notes = new StrayNotes(log, isOneWay);
	return perMessage({
		toUpstream(envelope, answer) {
			const {flaw, id} = envelope.head;
			if (flaw === undefined) return isOneWay ? envelope : shortEnough(envelope, answer);
			// Of the version that has batches, or not: in a filter that is not known, and the receiver decides.
			if (isOneWay && flaw === 'a batch' && isSoundBatch(envelope)) return envelope;
			notes.tell('client.message.refused', envelope, flaw);
			if (isOneWay) return;
			// Made once: a flood of garbage must not cost an error with a stack each.
			const error = problems.get(flaw) ?? problem(flaw, envelope.origin.name, maxBytes);
			problems.set(flaw, error);
			const failure = Envelope.failure(id, error, envelope.origin);
			// An answer is not answered, however wrong it is.
			if (!isAnswer(envelope.head)) answer(failure);
			return isForUpstream(envelope, failsResponses) ? failure : undefined;
		},
	});
}

/**
 * Whether the upstream gets an error in the place of a message: for a response that is over a limit, and where `isEach` for any
 * response. A message with an id and nothing else may be meant as one.
 */
function isForUpstream({head}: Envelope, isEach: boolean): boolean {
	const {id, method, flaw} = head;
	if (isAnswer(head)) return flaw === 'too complex' || (isEach && id !== undefined);
	return isEach && id !== undefined && method === undefined && flaw === 'neither request nor answer';
}

/** Whether a batch has messages in it, and nothing else. */
function isSoundBatch(envelope: Envelope): boolean {
	const texts = elements(envelope.bytes, MAX_BATCH) ?? [];
	return texts.length > 0 && texts.every(text => envelope.part(text).head.flaw === undefined);
}

/** The message of a client, unless a session would have to keep too much of it. */
function shortEnough(envelope: Envelope, answer: Answer): Envelope | undefined {
	const problem = keptProblem(envelope);
	if (!problem) return envelope;
	answer(Envelope.failure(envelope.head.id, problem, envelope.origin));
	return;
}

const parseUpstream = ({log, maxBytes = MESSAGE_LIMIT, lacksVersion = false}: Options): Stage =>
	stage(out => {
		const notes = new StrayNotes(log, false);
		const judge = (envelope: Envelope, answer: Answer): Envelope | undefined => {
			const {flaw} = envelope.head;
			if (flaw === undefined || (lacksVersion && flaw === 'not JSON-RPC 2.0'))
				return ofShortWords(envelope, notes, answer);
			notes.tell(limits.has(flaw) ? 'frame.too_large' : 'child.stdout.garbage', envelope, flaw);
			const {name} = envelope.origin;
			// Made only where it is sent, since it has a stack.
			const error = (): BridgeError =>
				limits.has(flaw) ? problem(flaw, name, maxBytes) : uselessAnswer(flaw, name);
			return failed(envelope, error, answer);
		};
		return {
			toClient(envelope, answer) {
				if (envelope.head.flaw !== 'a batch') return judge(envelope, answer);
				const texts = elements(envelope.bytes);
				if (!texts) return judge(envelope, answer);
				// No client reads an array but as the answer to one of its own.
				for (const text of texts) {
					const part = judge(envelope.part(text), answer);
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
function failed({head, origin}: Envelope, error: () => BridgeError, answer: Answer): Envelope | undefined {
	const {id, method, flaw} = head;
	if (id === undefined) return;
	if (isAnswer(head)) return Envelope.failure(id, error(), origin);
	if (method !== undefined && flaw === 'too complex') answer(Envelope.failure(id, error(), origin));
	return;
}

/** Flaws of messages that are valid, and over a limit. */
const limits: ReadonlySet<Flaw> = new Set(['too large', 'too complex']);

/** Made once, as above. */
const longWords = {id: tooLong('id'), method: tooLong('method')} as const;

/**
 * The message of an upstream, unless it is a request or notification with an id or a method that is too long: stages keep
 * these until the client responds. The id of a response is only looked up.
 */
function ofShortWords(envelope: Envelope, notes: StrayNotes, answer: Answer): Envelope | undefined {
	const {id, method} = envelope.head;
	if (method === undefined) return envelope;
	if (method.length <= MAX_WORD && (id === undefined || id.length <= MAX_WORD)) return envelope;
	const word = method.length > MAX_WORD ? 'method' : 'id';
	notes.tell('child.stdout.garbage', envelope, `a message whose ${word} is too long`);
	if (id !== undefined) answer(Envelope.failure(id, longWords[word], envelope.origin));
	return;
}

function problem(flaw: Flaw, sender: string, maxBytes: number): BridgeError {
	const what = `${capital(sender)} sent something that is ${flaw}`;
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
				`${capital(sender)} sent a message of more than ${maxBytes} bytes (limits.message).`,
				'Send it in smaller parts, or raise that limit.',
				{limit: maxBytes},
			);
		case 'too complex':
			return tooComplex(capital(sender));
		case 'nested too deep':
			return invalid(`${what}: more than ${MAX_DEPTH} levels.`, 'Send a flatter message.');
		case 'a repeated key':
			return invalid(
				`${capital(sender)} sent a message that has a key twice at its top level, or has name, uri, arguments, _meta or requestId twice in its params.`,
				'Send each key once: peers disagree on which of two counts.',
			);
		case 'an id of the wrong type':
			return invalid(
				`${capital(sender)} sent a message with an id that is neither string nor number.`,
				'Send a string or a number as the id, or none for a notification.',
			);
		default:
			return invalid(`${what}.`, 'Send JSON-RPC 2.0: {"jsonrpc":"2.0","id":1,"method":"…"}.');
	}
}

const uselessAnswer = (flaw: Flaw, upstream: string): BridgeError =>
	new BridgeError(
		'ERR_UPSTREAM_INVALID',
		`${upstream} answered with something that is ${flaw}, which cannot be passed on.`,
		'Tell whoever makes that server; the log on stderr shows how it begins.',
	);

const invalid = (message: string, remedy: string): BridgeError =>
	new BridgeError('ERR_MESSAGE_INVALID', message, remedy);

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
