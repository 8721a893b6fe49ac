import {type JsonObject, listOf, objectOf} from '../protocol/json.js';
import {because, mayRun, named, type Question, type Reply, yesOrNo} from './approvals.js';
import {text} from './call.js';

type Asked = Pick<Question, 'message' | 'schema' | 'answer'>;

const decided = ({action}: Reply): JsonObject => ({decision: action});

/** What a model wants to know of its user: one field a question, with the answers that it thinks of. */
function form(questions: readonly JsonObject[]): JsonObject {
	const fields = questions.map(({id, header, question, options}) => {
		const labels = listOf(options).map(option => text(objectOf(option).label) ?? '');
		const field = {type: 'string', title: header, description: question};
		return [String(id), labels.length > 0 ? {...field, enum: labels} : field] as const;
	});
	return {type: 'object', properties: Object.fromEntries(fields)};
}

const given = ({action, content}: Reply): JsonObject => {
	const answers = Object.entries(action === 'accept' ? content : {});
	return {answers: Object.fromEntries(answers.map(([id, value]) => [id, {answers: [String(value)]}]))};
};

/** What `codex app-server` asks of its client, and how each wants to be answered. */
const askable: {
	readonly [method: string]: (params: JsonObject, files: readonly string[]) => Asked | undefined;
} = {
	'item/commandExecution/requestApproval': ({command, cwd, reason}) => ({
		message: mayRun(command, cwd, reason),
		schema: yesOrNo,
		answer: decided,
	}),
	'item/fileChange/requestApproval': ({grantRoot, reason}, files) => ({
		message: `Allow Codex to change files${text(grantRoot) ? ` under \`${grantRoot}\`` : ''}?${because(reason)}${named(files)}`,
		schema: yesOrNo,
		answer: decided,
	}),
	'item/permissions/requestApproval': ({permissions, cwd, reason}) => ({
		message: `Allow Codex more for this turn, in \`${cwd}\`: ${JSON.stringify(permissions)}?${because(reason)}`,
		schema: yesOrNo,
		answer: ({action}) => ({permissions: action === 'accept' ? granted(permissions) : {}, scope: 'turn'}),
	}),
	'item/tool/requestUserInput': ({questions}) => ({
		message: 'Codex has a question.',
		schema: form(listOf(questions).map(objectOf)),
		answer: given,
	}),
	'mcpServer/elicitation/request': ({mode, message, requestedSchema, serverName}) =>
		// A form is all that every client has.
		mode === 'form'
			? {
					message: `${serverName}: ${message}`,
					schema: objectOf(requestedSchema),
					answer: ({action, content}) => ({
						action,
						content: action === 'accept' ? content : null,
						_meta: null,
					}),
				}
			: undefined,
};

/** What was asked for, less what was not. */
const granted = (permissions: unknown): JsonObject =>
	Object.fromEntries(Object.entries(objectOf(permissions)).filter(([, value]) => value !== null));

/**
 * A request of `codex app-server` as a question, if it is one that a client can be asked. `files` are those of the item that
 * it is about.
 */
export function appQuestion(
	id: string,
	method: string,
	params: JsonObject,
	files: readonly string[],
): Question | undefined {
	const asked = Object.hasOwn(askable, method) ? askable[method]?.(params, files) : undefined;
	return asked && {id, threadId: text(params.threadId), ...asked};
}
