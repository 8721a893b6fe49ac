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

/** Blocks of lists of content in one request for sampling: each becomes a message. */
const MAX_SPLIT_BLOCKS = 10_000;

/**
 * 2025-11-25 brought tasks, elicitation by URL and richer forms, tools and lists of content in sampling, icons, and
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
			// Without an id it answers nothing, and the versions before have no such message.
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

/** It promises methods that this conversation does not have. */
function withoutTasks(result: JsonObject, context: RuleContext): JsonObject {
	const capabilities = objectOf(result.capabilities);
	if (!('tasks' in capabilities)) return result;
	context.reportLoss('tasks');
	return {...result, capabilities: without(capabilities, 'tasks')};
}

/** A receiver without tasks does the work at once and answers with the result itself. */
function withoutTask(params: JsonObject, context: RuleContext): JsonObject {
	if ('task' in params) context.reportLoss('tasks');
	return without(params, 'task');
}

function rejectMethod(method: string) {
	return (_params: JsonObject, {direction, to, reportLoss: lost}: RuleContext): RpcErrorReply => {
		lost('tasks');
		const receiver = direction === 'toUpstream' ? 'server' : 'client';
		return new RpcErrorReply(-32601, `Method not found: ${method} (the ${receiver} speaks protocol ${to})`);
	};
}

function downgradeElicitation(params: JsonObject, context: RuleContext): RuleResult {
	const {elicitation} = context.clientCapabilities;
	// A client without any is refused by the version that brought it.
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
		context.reportLoss('choices of several in forms');
		const message = 'Invalid params: the form has too many options, or too long ones, to choose several of';
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
		const message = `Invalid params: ${blocks} blocks of content in lists, the limit is ${MAX_SPLIT_BLOCKS}`;
		return new RpcErrorReply(-32602, `${message} (protocol ${context.to})`);
	}
	const single = messages.flatMap(message => splitContent(objectOf(message), context));
	const isSame = single.length === messages.length && single.every((message, at) => message === messages[at]);
	return isSame ? downgraded : {...downgraded, messages: single};
}

const roles: ReadonlySet<unknown> = new Set(['user', 'assistant']);

/**
 * Messages of one block each, of the same role, are equal. The first has all other members: a copy of them for each
 * block would make a large message of a small one. So would a role that is not one.
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

/** One block for what was a list: the text of all, or the first that is none. The list itself is kept. */
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

/** An older client shows the message alone, so that is where the link has to be. */
function addLinksToMessage(error: JsonObject): JsonObject {
	if (error.code !== -32042) return error;
	const links = listOf(objectOf(error.data).elicitations)
		.map(objectOf)
		.map(({url, message}) => `Open: ${toText(url)}${message === undefined ? '' : ` (${toText(message)})`}`);
	return links.length === 0 ? error : {...error, message: `${toText(error.message)} ${links.join(' ')}`};
}
