import {type JsonObject, objectOf} from '../../util/json.js';
import {type ApprovalReply, type ApprovalRequest, emptyFormSchema, filesSuffix} from './approvals.js';
import {stringOrUndefined} from './turn-call.js';

/** The answer in the words of `codex mcp-server`, which reads `decision` and takes all else for a refusal. */
const toMcpResult = ({action, reason = 'The user declined.'}: ApprovalReply): JsonObject => {
	const decisions = {
		accept: 'approved',
		decline: {denied: {rejection: reason}},
		cancel: 'abort',
	};
	return {action, decision: decisions[action], content: {}};
};

/** A question of `codex mcp-server`: an elicitation, but for the answer that it wants. */
export function parseMcpApproval(id: string, params: JsonObject): ApprovalRequest {
	const {message, requestedSchema, threadId, codex_changes: changes} = params;
	const schema = requestedSchema === undefined ? emptyFormSchema : objectOf(requestedSchema);
	const fullMessage = `${stringOrUndefined(message) ?? 'Codex asks for leave.'}${filesSuffix(Object.keys(objectOf(changes)))}`;
	return {id, threadId: stringOrUndefined(threadId), message: fullMessage, schema, toResult: toMcpResult};
}

/** What to say when Codex asks for leave to use a tool in the one way that nobody can answer. */
export const UNANSWERABLE_APPROVAL =
	'Codex asked for leave to use a tool of an MCP server, in a way that this version of Codex takes no answer to, so the turn was stopped. Set default_tools_approval_mode = "approve" for that server in config.toml, or use approval-policy never, under which such tools are refused.';
