import {Envelope} from '../envelope.js';
import {BridgeError} from '../errors.js';
import type {Log} from '../log.js';
import {perMessage, type Stage, stage} from '../stage.js';
import {redactText} from '../store/redact.js';
import {elements} from '../wire/batch.js';
import {type Flaw, isAnswer} from '../wire/scan.js';
import {MAX_DEPTH} from '../wire/walk.js';
import {MESSAGE_LIMIT} from './frame.js';

/** How much of something that is no message is shown in the log. */
const EXCERPT = 200;

export type ParseOptions = {
	readonly log: Log;
	/** Whose messages are judged: each side's right where they come in, before any stage acts on them. */
	readonly from: 'client' | 'upstream';
	readonly maxBytes?: number;
	/** Whether there is no way back to the sender, as in a filter. */
	readonly isOneWay?: boolean;
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

function parseClient({log, maxBytes = MESSAGE_LIMIT, isOneWay = false}: Options): Stage {
	const problems = new Map<Flaw, BridgeError>();
	return perMessage({
		toUpstream(envelope, answer) {
			const {flaw, id} = envelope.head;
			if (flaw === undefined) return envelope;
			warn(log, 'client.message.refused', envelope, flaw);
			// An answer is not answered, however wrong it is.
			if (isOneWay || isAnswer(envelope.head)) return;
			// Made once: a flood of garbage must not cost an error with a stack each.
			const error = problems.get(flaw) ?? problem(flaw, envelope.origin.name, maxBytes);
			problems.set(flaw, error);
			answer(Envelope.failure(id, error, envelope.origin));
			return;
		},
	});
}

const parseUpstream = ({log, maxBytes = MESSAGE_LIMIT, lacksVersion = false}: Options): Stage =>
	stage(out => {
		const judge = (envelope: Envelope): Envelope | undefined => {
			const {flaw, id} = envelope.head;
			if (flaw === undefined || (lacksVersion && flaw === 'not JSON-RPC 2.0')) return envelope;
			warn(log, flaw === 'too large' ? 'frame.too_large' : 'child.stdout.garbage', envelope, flaw);
			// What is not meant as an answer, a line of a log perhaps, fails nobody.
			if (id === undefined || !isAnswer(envelope.head)) return;
			const {name} = envelope.origin;
			const error = flaw === 'too large' ? problem(flaw, name, maxBytes) : uselessAnswer(flaw, name);
			return Envelope.failure(id, error, envelope.origin);
		};
		return {
			toClient(envelope) {
				if (envelope.head.flaw !== 'a batch') return judge(envelope);
				const texts = elements(envelope.bytes);
				if (!texts) return judge(envelope);
				// No client reads an array but as the answer to one of its own.
				for (const text of texts) {
					const part = judge(envelope.part(text));
					if (part) out.toClient(part);
				}
				return;
			},
		};
	});

/** Tells people of something that is no message: where it came from, what is wrong, how it begins. */
function warn(log: Log, event: string, {origin, bytes}: Envelope, flaw: Flaw): void {
	const start = redactText(bytes.toString('utf8', 0, EXCERPT));
	log.warn(event, `${origin.name} sent something that is ${flaw}; it was not passed on.`, {
		side: origin.name,
		start,
	});
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
		case 'nested too deep':
			return invalid(`${what}: more than ${MAX_DEPTH} levels.`, 'Send a flatter message.');
		case 'a repeated key':
			return invalid(
				`${capital(sender)} sent a message with a key twice at its top level, or with two names in its params.`,
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
