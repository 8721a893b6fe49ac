import {Envelope} from '../../core/envelope.js';
import type {TurnCall} from './turn-call.js';

/**
 * How a turn ended.
 *
 * `unknown_thread`: Codex does not have this thread or cannot resume it. `retired`: the thread is unusable
 * because its model failed or a turn did not end, so a new thread is needed.
 */
type CodexTurnStatus = 'completed' | 'interrupted' | 'failed' | 'unknown_thread' | 'retired';

export type CodexOutcome = {
	readonly status: CodexTurnStatus;
	/** The model's message, or an error with a remedy. */
	readonly text: string;
	/** Whether the thread accepts no further turns. */
	readonly isThreadRetired?: boolean;
	/** Whether the turn was abandoned while Codex may still run it. Its thread stays busy. */
	readonly isUnconfirmed?: boolean;
};

/** The `_meta` key of a result for the machine-readable outcome. */
const CODEX_TURN_META = 'io.bridge/turn';

/** Returns the response to a call, with text for the model and `_meta` for programs. */
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

/** The outcome of an interrupted turn, with the model's partial message. */
export function interruptedOutcome({transcript}: TurnCall): CodexOutcome {
	const partialNote = transcript.text === '' ? 'It produced no text.' : `Text so far:\n${transcript.text}`;
	return {status: 'interrupted', text: `The turn was interrupted. ${partialNote}`};
}

export const failedOutcome = (text: string): CodexOutcome => ({status: 'failed', text});

/** The outcome of a stopped turn: failed if bridge abandoned it, interrupted if the client cancelled it. */
export const stoppedOutcome = (call: TurnCall): CodexOutcome =>
	call.failureReason === undefined ? interruptedOutcome(call) : failedOutcome(call.failureReason);

export const retiredOutcome = (threadId: string, reason: string): CodexOutcome => ({
	status: 'retired',
	text: `Thread ${threadId} can no longer be used because ${reason}. Start a new one with codex.`,
});
