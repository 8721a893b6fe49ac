import {type JsonObject, objectOf} from '../../util/json.js';
import {type ApprovalReply, type ApprovalRequest, emptyFormSchema, filesSuffix} from './approvals.js';
import {stringOrUndefined} from './turn-call.js';

/**
 * Converts a reply for `codex mcp-server`, which only reads `decision` and treats unknown values as a denial.
 */
const toMcpResult = ({action, reason = 'The user declined.'}: ApprovalReply): JsonObject => {
	const decisions = {
		accept: 'approved',
		decline: {denied: {rejection: reason}},
		cancel: 'abort',
	};
	return {action, decision: decisions[action], content: {}};
};

/** Parses an elicitation of `codex mcp-server`. It differs from MCP only in the expected result. */
export function parseMcpApproval(id: string, params: JsonObject): ApprovalRequest {
	const {message, requestedSchema, threadId, codex_changes: changes} = params;
	const schema = requestedSchema === undefined ? emptyFormSchema : objectOf(requestedSchema);
	const fullMessage = `${stringOrUndefined(message) ?? 'Codex requests approval.'}${filesSuffix(Object.keys(objectOf(changes)))}`;
	return {id, threadId: stringOrUndefined(threadId), message: fullMessage, schema, toResult: toMcpResult};
}

/** The error for a tool approval that arrives as an event. Codex accepts no response to it. */
export const UNANSWERABLE_APPROVAL =
	'Codex requested approval for a tool of an MCP server, but this version of Codex does not accept a response to the request. The turn was stopped. Set default_tools_approval_mode = "approve" for that server in config.toml, or use approval-policy never, which denies such tools.';
