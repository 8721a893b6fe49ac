import {Envelope} from '../../core/envelope.js';
import type {TurnCall} from './turn-call.js';

/**
 * How a turn ended.
 *
 * `unknown_thread`: Codex has no such thread, or none that it can go on with. `retired`: this thread answers no more, since
 * its model failed or a turn did not end; a new one has to be started.
 */
type CodexTurnStatus = 'completed' | 'interrupted' | 'failed' | 'unknown_thread' | 'retired';

export type CodexOutcome = {
	readonly status: CodexTurnStatus;
	/** What was said, or what is wrong and what to do. */
	readonly text: string;
	/** Whether no other turn is possible on this thread. */
	readonly isThreadRetired?: boolean;
	/** Whether the turn was given up while Codex may still run it, so that its thread is not free. */
	readonly isUnconfirmed?: boolean;
};

/** Where a result tells programs how the turn ended. */
const CODEX_TURN_META = 'io.bridge/turn';

/** The answer to a call: what a model reads as text, and what programs need beside it. */
export function turnResponse(
	call: TurnCall,
	{status, text, isThreadRetired, isUnconfirmed}: CodexOutcome,
): Envelope {
	const {threadId} = call;
	const isError = status !== 'completed';
	const isFault = isError && status !== 'interrupted';
	const turn = {
		status,
		threadId,
		partial: status === 'interrupted' ? call.transcript.text : undefined,
		error: isFault ? text : undefined,
		isThreadRetired,
		isUnconfirmed,
		declined: call.declined.length > 0 ? call.declined : undefined,
		commands: status === 'interrupted' && call.commands.size > 0 ? [...call.commands.values()] : undefined,
	};
	const result = {
		content: [{type: 'text', text}],
		structuredContent: threadId === undefined ? undefined : {threadId, content: text},
		isError: isError || undefined,
		_meta: {[CODEX_TURN_META]: turn},
	};
	return Envelope.response(call.id, 'result', result, call.origin);
}

/** The outcome of a turn that was interrupted: what was said by then is not lost. */
export function interruptedOutcome({transcript: speech}: TurnCall): CodexOutcome {
	const partialNote = speech.text === '' ? 'Nothing had been said by then.' : `Said by then:\n${speech.text}`;
	return {status: 'interrupted', text: `The turn was interrupted. ${partialNote}`};
}

export const failedOutcome = (text: string): CodexOutcome => ({status: 'failed', text});

/** The outcome of a turn that was stopped, by its caller or for a reason. */
export const stoppedOutcome = (call: TurnCall): CodexOutcome =>
	call.failureReason === undefined ? interruptedOutcome(call) : failedOutcome(call.failureReason);

/** The outcome of a call on a thread that takes no more turns. */
export const retiredOutcome = (threadId: string, reason: string): CodexOutcome => ({
	status: 'retired',
	text: `Thread ${threadId} cannot be used any more, since ${reason}. Start a new one with codex.`,
});
