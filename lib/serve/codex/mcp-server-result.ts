import {type JsonObject, listOf, objectOf} from '../../util/json.js';
import {type CodexOutcome, failedOutcome} from './codex-outcome.js';
import {explainCodexError} from './explain-codex-error.js';
import {stringOrUndefined, type TurnCall} from './turn-call.js';

const unknownThreadPattern = /^(?:Session not found|Failed to parse thread_id)/;

/** What a result of `codex mcp-server` means. */
export function parseMcpOutcome(result: JsonObject, call: TurnCall): CodexOutcome {
	const structured = objectOf(result.structuredContent);
	const [first] = listOf(result.content).map(objectOf);
	const message = stringOrUndefined(structured.content) ?? stringOrUndefined(first?.text) ?? '';
	if (result.isError !== true) return {status: 'completed', text: message};
	if (unknownThreadPattern.test(message))
		return {
			status: 'unknown_thread',
			text: `Codex has no thread ${call.threadId}: ${message}. This version of Codex forgets its threads when it ends. Start a new one with codex.`,
		};
	// From then on this thread would answer one turn late.
	if (structured.threadId !== undefined)
		return {
			status: 'failed',
			text: `${explainCodexError(message)}\nCodex cannot use this thread any more.`,
			isThreadRetired: true,
		};
	return failedOutcome(explainCodexError(message));
}
