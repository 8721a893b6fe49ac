import {type JsonObject, listOf, objectOf} from '../../util/json.js';
import {
	type ApprovalReply,
	type ApprovalRequest,
	commandApprovalMessage,
	emptyFormSchema,
	filesSuffix,
	reasonSuffix,
} from './approvals.js';
import {stringOrUndefined} from './turn-call.js';

type AppApproval = Pick<ApprovalRequest, 'message' | 'schema' | 'toResult'>;

const toDecision = ({action}: ApprovalReply): JsonObject => ({decision: action});

/** What a model wants to know of its user: one field a question, with the answers that it thinks of. */
function questionForm(questions: readonly JsonObject[]): JsonObject {
	const fields = questions.map(({id, header, question, options}) => {
		const labels = listOf(options).map(option => stringOrUndefined(objectOf(option).label) ?? '');
		const field = {type: 'string', title: header, description: question};
		return [String(id), labels.length > 0 ? {...field, enum: labels} : field] as const;
	});
	return {type: 'object', properties: Object.fromEntries(fields)};
}

const toUserInput = ({action, content}: ApprovalReply): JsonObject => {
	const answers = Object.entries(action === 'accept' ? content : {});
	return {answers: Object.fromEntries(answers.map(([id, value]) => [id, {answers: [String(value)]}]))};
};

/** What `codex app-server` asks of its client, and how each wants to be answered. */
const approvalParsers: {
	readonly [method: string]: (params: JsonObject, files: readonly string[]) => AppApproval | undefined;
} = {
	'item/commandExecution/requestApproval': ({command, cwd, reason}) => ({
		message: commandApprovalMessage(command, cwd, reason),
		schema: emptyFormSchema,
		toResult: toDecision,
	}),
	'item/fileChange/requestApproval': ({grantRoot, reason}, files) => ({
		message: `Allow Codex to change files${stringOrUndefined(grantRoot) ? ` under \`${grantRoot}\`` : ''}?${reasonSuffix(reason)}${filesSuffix(files)}`,
		schema: emptyFormSchema,
		toResult: toDecision,
	}),
	'item/permissions/requestApproval': ({permissions, cwd, reason}) => ({
		message: `Allow Codex more for this turn, in \`${cwd}\`: ${JSON.stringify(permissions)}?${reasonSuffix(reason)}`,
		schema: emptyFormSchema,
		toResult: ({action}) => ({
			permissions: action === 'accept' ? grantedPermissions(permissions) : {},
			scope: 'turn',
		}),
	}),
	'item/tool/requestUserInput': ({questions}) => ({
		message: 'Codex has a question.',
		schema: questionForm(listOf(questions).map(objectOf)),
		toResult: toUserInput,
	}),
	'mcpServer/elicitation/request': ({mode, message, requestedSchema, serverName}) =>
		// A form is all that every client has.
		mode === 'form'
			? {
					message: `${serverName}: ${message}`,
					schema: objectOf(requestedSchema),
					toResult: ({action, content}) => ({
						action,
						content: action === 'accept' ? content : null,
						_meta: null,
					}),
				}
			: undefined,
};

/** What was asked for, less what was not. */
const grantedPermissions = (permissions: unknown): JsonObject =>
	Object.fromEntries(Object.entries(objectOf(permissions)).filter(([, value]) => value !== null));

/**
 * A request of `codex app-server` as a question, if it is one that a client can be asked. `files` are those of the item that
 * it is about.
 */
export function parseAppApproval(
	id: string,
	method: string,
	params: JsonObject,
	files: readonly string[],
): ApprovalRequest | undefined {
	const approval = Object.hasOwn(approvalParsers, method)
		? approvalParsers[method]?.(params, files)
		: undefined;
	return approval && {id, threadId: stringOrUndefined(params.threadId), ...approval};
}
