import {type JsonObject, listOf, objectOf} from '../../util/json.js';
import {type CodexOutcome, failedOutcome} from './codex-outcome.js';
import {explainCodexError} from './explain-codex-error.js';
import {stringOrUndefined, type TurnCall} from './turn-call.js';

const unknownThreadPattern = /^(?:Session not found|Failed to parse thread_id)/;

export function parseMcpOutcome(result: JsonObject, call: TurnCall): CodexOutcome {
	const structured = objectOf(result.structuredContent);
	const [first] = listOf(result.content).map(objectOf);
	const message = stringOrUndefined(structured.content) ?? stringOrUndefined(first?.text) ?? '';
	if (result.isError !== true) return {status: 'completed', text: message};
	if (unknownThreadPattern.test(message))
		return {
			status: 'unknown_thread',
			text: `Codex does not have thread ${call.threadId}: ${message}. This version of Codex loses its threads when it exits. Start a new one with codex.`,
		};
	// After a failed turn, each result on this thread would be that of the turn before.
	if (structured.threadId !== undefined)
		return {
			status: 'failed',
			text: `${explainCodexError(message)}\nCodex can no longer use this thread.`,
			isThreadRetired: true,
		};
	return failedOutcome(explainCodexError(message));
}
