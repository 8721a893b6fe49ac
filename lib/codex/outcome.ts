import {Envelope} from '../envelope.js';
import type {Call} from './call.js';

/**
 * How a turn ended.
 *
 * `unknown_thread`: Codex has no such thread, or none that it can go on with. `retired`: this thread answers no more, since
 * its model failed; a new one has to be started.
 */
export type TurnStatus = 'completed' | 'interrupted' | 'failed' | 'unknown_thread' | 'retired';

export type Outcome = {
	readonly status: TurnStatus;
	/** What was said, or what is wrong and what to do. */
	readonly text: string;
	/** Whether no other turn is possible on this thread. */
	readonly isThreadRetired?: boolean;
};

/** Where a result tells programs how the turn ended. */
export const TURN_META = 'io.bridge/turn';

/** The answer to a call: what a model reads as text, and what programs need beside it. */
export function answerTo(call: Call, {status, text, isThreadRetired}: Outcome): Envelope {
	const {threadId} = call;
	const isError = status !== 'completed';
	const isFault = isError && status !== 'interrupted';
	const turn = {
		status,
		threadId,
		partial: status === 'interrupted' ? call.speech.text : undefined,
		error: isFault ? text : undefined,
		isThreadRetired,
	};
	const result = {
		content: [{type: 'text', text}],
		structuredContent: threadId === undefined ? undefined : {threadId, content: text},
		isError: isError || undefined,
		_meta: {[TURN_META]: turn},
	};
	return Envelope.answer(call.id, 'result', result, call.origin);
}

/** The outcome of a turn that was interrupted: what was said by then is not lost. */
export function interrupted({speech}: Call): Outcome {
	const said = speech.text === '' ? 'Nothing had been said by then.' : `Said by then:\n${speech.text}`;
	return {status: 'interrupted', text: `The turn was interrupted. ${said}`};
}

export const failed = (text: string): Outcome => ({status: 'failed', text});
