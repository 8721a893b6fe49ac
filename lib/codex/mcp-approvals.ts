import {type JsonObject, objectOf} from '../protocol/json.js';
import {named, type Question, type Reply, yesOrNo} from './approvals.js';
import {text} from './call.js';

/** The answer in the words of `codex mcp-server`, which reads `decision` and takes all else for a refusal. */
const answer = ({action, reason = 'The user declined.'}: Reply): JsonObject => {
	const decisions = {
		accept: 'approved',
		decline: {denied: {rejection: reason}},
		cancel: 'abort',
	};
	return {action, decision: decisions[action], content: {}};
};

/** A question of `codex mcp-server`: an elicitation, but for the answer that it wants. */
export function mcpQuestion(id: string, params: JsonObject): Question {
	const {message, requestedSchema, threadId, codex_changes: changes} = params;
	const schema = requestedSchema === undefined ? yesOrNo : objectOf(requestedSchema);
	const asked = `${text(message) ?? 'Codex asks for leave.'}${named(Object.keys(objectOf(changes)))}`;
	return {id, threadId: text(threadId), message: asked, schema, answer};
}

/** What to say when Codex asks for leave to use a tool in the one way that nobody can answer. */
export const unanswerable =
	'Codex asked for leave to use a tool of an MCP server, in a way that this version of Codex takes no answer to, so the turn was stopped. Set default_tools_approval_mode = "approve" for that server in config.toml, or use approval-policy never, under which such tools are refused.';
