import {isObject, type JsonObject, listOf, objectOf, toText, without} from '../util/json.js';
import {marks} from '../wire/marks.js';
import {textBlock} from './content.js';
import {checkboxCharacters, downgradeForm} from './elicitation-form.js';
import {
	DROPPED,
	ifContains,
	ifMarked,
	RpcErrorReply,
	type RuleContext,
	type RuleResult,
	type VersionStep,
} from './translation-rule.js';

/** Blocks in content lists of one sampling request. Each becomes a message. */
const MAX_SPLIT_BLOCKS = 10_000;

/**
 * 2025-11-25 added tasks, elicitation by URL, richer forms, tools and content lists in sampling, icons, and
 * errors without an id.
 */
export const v20251125: VersionStep = {
	version: '2025-11-25',
	down: {
		results: {
			initialize: {apply: withoutTasks},
			'sampling/createMessage': {apply: mergeContent},
		},
		requests: {
			'tools/call': ifMarked(marks.task, withoutTask),
			'elicitation/create': {apply: downgradeElicitation},
			'sampling/createMessage': {apply: downgradeSampling},
			'tasks/get': {apply: rejectMethod('tasks/get')},
			'tasks/result': {apply: rejectMethod('tasks/result')},
			'tasks/list': {apply: rejectMethod('tasks/list')},
			'tasks/cancel': {apply: rejectMethod('tasks/cancel')},
		},
		notifications: {
			'notifications/tasks/status': {apply: () => DROPPED},
			'notifications/elicitation/complete': {apply: () => DROPPED},
			'notifications/cancelled': {apply: params => ('requestId' in params ? params : DROPPED)},
		},
		errors: {
			// An error without an id belongs to no request, and earlier versions do not have it.
			'': {apply: () => DROPPED},
			'*': ifContains(['-32042'], addLinksToMessage),
		},
	},
	up: {
		results: {
			'elicitation/create': {apply: readFormResponse},
		},
	},
	members: {
		tool: ['icons', 'execution'],
		resource: ['icons'],
		template: ['icons'],
		prompt: ['icons'],
		implementation: ['icons', 'description', 'websiteUrl'],
	},
};

/** Removes the tasks capability, whose methods this conversation does not support. */
function withoutTasks(result: JsonObject, context: RuleContext): JsonObject {
	const capabilities = objectOf(result.capabilities);
	if (!('tasks' in capabilities)) return result;
	context.reportLoss('tasks');
	return {...result, capabilities: without(capabilities, 'tasks')};
}

/** Removes `task`. A receiver without tasks executes the request immediately and returns its result. */
function withoutTask(params: JsonObject, context: RuleContext): JsonObject {
	if ('task' in params) context.reportLoss('tasks');
	return without(params, 'task');
}

function rejectMethod(method: string) {
	return (_params: JsonObject, {direction, to, reportLoss}: RuleContext): RpcErrorReply => {
		reportLoss('tasks');
		const receiver = direction === 'toUpstream' ? 'server' : 'client';
		return new RpcErrorReply(-32601, `Method not found: ${method} (the ${receiver} speaks protocol ${to})`);
	};
}

function downgradeElicitation(params: JsonObject, context: RuleContext): RuleResult {
	const {elicitation} = context.clientCapabilities;
	// The step of 2025-06-18, which introduced elicitation, rejects clients without it.
	if (context.to < '2025-06-18' && elicitation === undefined) return params;
	if (params.mode === 'url') {
		if (isObject(elicitation) && 'url' in elicitation) return withoutTask(params, context);
		context.reportLoss('elicitation by URL');
		const message = 'Invalid params: elicitation mode "url" is not supported by the client';
		return new RpcErrorReply(-32602, `${message} (protocol ${context.to})`);
	}
	const downgraded = without(withoutTask(params, context), 'mode');
	const form = objectOf(params.requestedSchema);
	const length = checkboxCharacters(form);
	if (length === undefined) {
		context.reportLoss('multi-select fields in forms');
		const message = 'Invalid params: the multi-select fields of the form have too many or too long options';
		return new RpcErrorReply(-32602, `${message} (protocol ${context.to})`);
	}
	const {schema, readResponse, hasLostLimits} = downgradeForm(form);
	if (readResponse) context.state.forms.add(context.id, readResponse, length);
	if (hasLostLimits) context.reportLoss('limits on choices in forms');
	return schema === params.requestedSchema ? downgraded : {...downgraded, requestedSchema: schema};
}

function readFormResponse(result: JsonObject, {state: {forms}, id}: RuleContext): JsonObject {
	const readResponse = forms.take(id);
	return readResponse && isObject(result.content)
		? {...result, content: readResponse(result.content)}
		: result;
}

function downgradeSampling(params: JsonObject, context: RuleContext): RuleResult {
	const {sampling} = context.clientCapabilities;
	const downgraded = withoutTask(params, context);
	if (isObject(sampling) && 'tools' in sampling) return downgraded;
	if ('tools' in params) {
		context.reportLoss('tools in sampling');
		const message = 'Invalid params: tools in sampling are not supported by the client';
		return new RpcErrorReply(-32602, `${message} (protocol ${context.to})`);
	}
	const messages = listOf(params.messages);
	const blocks = messages.reduce<number>((sum, message) => sum + listOf(objectOf(message).content).length, 0);
	if (blocks > MAX_SPLIT_BLOCKS) {
		context.reportLoss('lists of content in sampling');
		const message = `Invalid params: ${blocks} blocks in content lists; the limit is ${MAX_SPLIT_BLOCKS}`;
		return new RpcErrorReply(-32602, `${message} (protocol ${context.to})`);
	}
	const single = messages.flatMap(message => splitContent(objectOf(message), context));
	const isSame = single.length === messages.length && single.every((message, at) => message === messages[at]);
	return isSame ? downgraded : {...downgraded, messages: single};
}

const roles: ReadonlySet<unknown> = new Set(['user', 'assistant']);

/**
 * Splits a message into messages of one block each, with the same role. Only the first one keeps the other
 * members: a copy per block would make a large message of a small one. The same applies to an invalid role.
 */
function splitContent(message: JsonObject, context: RuleContext): JsonObject[] {
	const {content} = message;
	const blocks = Array.isArray(content) ? content : [content];
	const downgraded = blocks.map(block => (isObject(block) ? toolUseToText(block, context) : block));
	if (!Array.isArray(content) && downgraded[0] === content) return [message];
	const role = roles.has(message.role) ? {role: message.role} : {};
	return downgraded.map((block, at) => (at === 0 ? {...message, content: block} : {...role, content: block}));
}

function toolUseToText(block: JsonObject, context: RuleContext): JsonObject {
	if (block.type !== 'tool_use' && block.type !== 'tool_result') return block;
	context.reportLoss('tools in sampling');
	return textBlock(JSON.stringify(block));
}

/** Merges a list into one block: the text of all blocks, or the first other block. The list is preserved. */
function mergeContent(result: JsonObject, context: RuleContext): JsonObject {
	const {content} = result;
	if (!Array.isArray(content)) {
		const single = toolUseToText(objectOf(content), context);
		if (isObject(content) && single !== content) context.keepOriginal('/content', content);
		return isObject(content) && single !== content ? {...result, content: single} : result;
	}
	context.reportLoss('lists of content in sampling');
	context.keepOriginal('/content', content);
	const blocks = content.map(block => toolUseToText(objectOf(block), context));
	const other = blocks.find(({type}) => type !== 'text');
	return {...result, content: other ?? textBlock(blocks.map(block => block.text).join('\n\n'))};
}

/** Adds links to the message of an error, because older clients show only the message. */
function addLinksToMessage(error: JsonObject): JsonObject {
	if (error.code !== -32042) return error;
	const links = listOf(objectOf(error.data).elicitations)
		.map(objectOf)
		.map(({url, message}) => `Open: ${toText(url)}${message === undefined ? '' : ` (${toText(message)})`}`);
	return links.length === 0 ? error : {...error, message: `${toText(error.message)} ${links.join(' ')}`};
}
