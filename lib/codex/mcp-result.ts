import {type JsonObject, listOf, objectOf} from '../protocol/json.js';
import {type Call, text} from './call.js';
import {explained} from './explain.js';
import {failed, type Outcome} from './outcome.js';

const unknownThread = /^(?:Session not found|Failed to parse thread_id)/;

/** What a result of `codex mcp-server` means. */
export function mcpOutcome(result: JsonObject, call: Call): Outcome {
	const structured = objectOf(result.structuredContent);
	const [first] = listOf(result.content).map(objectOf);
	const said = text(structured.content) ?? text(first?.text) ?? '';
	if (result.isError !== true) return {status: 'completed', text: said};
	if (unknownThread.test(said))
		return {
			status: 'unknown_thread',
			text: `Codex has no thread ${call.threadId}: ${said}. This version of Codex forgets its threads when it ends. Start a new one with codex.`,
		};
	// From then on this thread would answer one turn late.
	if (structured.threadId !== undefined)
		return {
			status: 'failed',
			text: `${explained(said)}\nCodex cannot use this thread any more.`,
			isThreadRetired: true,
		};
	return failed(explained(said));
}
