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

/** Returns a form schema with one field per prompt. The options that the model suggests become an enum. */
function userInputForm(questions: readonly JsonObject[]): JsonObject {
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

/** Converts the requests that `codex app-server` sends to its client into elicitation, by method. */
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
		message: `Grant Codex these permissions in \`${cwd}\` for this turn: ${JSON.stringify(permissions)}?${reasonSuffix(reason)}`,
		schema: emptyFormSchema,
		toResult: ({action}) => ({
			permissions: action === 'accept' ? grantedPermissions(permissions) : {},
			scope: 'turn',
		}),
	}),
	'item/tool/requestUserInput': ({questions}) => ({
		message: 'Codex needs your input.',
		schema: userInputForm(listOf(questions).map(objectOf)),
		toResult: toUserInput,
	}),
	'mcpServer/elicitation/request': ({mode, message, requestedSchema, serverName}) =>
		// Form mode is the only mode that every client with elicitation supports.
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

/** The requested permissions. Codex sends `null` for those that it does not request. */
const grantedPermissions = (permissions: unknown): JsonObject =>
	Object.fromEntries(Object.entries(objectOf(permissions)).filter(([, value]) => value !== null));

/**
 * Returns a request of `codex app-server` as an approval, or undefined if no elicitation can express it.
 * `files` are the changed files of the item that the request refers to.
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
