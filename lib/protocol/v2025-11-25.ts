import {marks} from '../wire/marks.js';
import {text} from './content.js';
import {boxesLength, olderForm} from './elicitation-form.js';
import {isObject, type JsonObject, listOf, objectOf, without, worded} from './json.js';
import {type Context, DROPPED, ifMarked, ifMentions, Refusal, type Step, type Verdict} from './step.js';

/** Blocks of lists of content in one request for sampling: each becomes a message. */
const MAX_SPLIT_BLOCKS = 10_000;

/**
 * 2025-11-25 brought tasks, elicitation by URL and richer forms, tools and lists of content in sampling, icons, and
 * errors without an id.
 */
export const v20251125: Step = {
	version: '2025-11-25',
	down: {
		results: {
			initialize: {apply: withoutTasks},
			'sampling/createMessage': {apply: listToOne},
		},
		requests: {
			'tools/call': ifMarked(marks.task, withoutTask),
			'elicitation/create': {apply: olderElicitation},
			'sampling/createMessage': {apply: olderSampling},
			'tasks/get': {apply: refuseMethod('tasks/get')},
			'tasks/result': {apply: refuseMethod('tasks/result')},
			'tasks/list': {apply: refuseMethod('tasks/list')},
			'tasks/cancel': {apply: refuseMethod('tasks/cancel')},
		},
		notifications: {
			'notifications/tasks/status': {apply: () => DROPPED},
			'notifications/elicitation/complete': {apply: () => DROPPED},
			'notifications/cancelled': {apply: params => ('requestId' in params ? params : DROPPED)},
		},
		errors: {
			// Without an id it answers nothing, and the versions before have no such message.
			'': {apply: () => DROPPED},
			'*': ifMentions(['-32042'], linkInMessage),
		},
	},
	up: {
		results: {
			'elicitation/create': {apply: readForm},
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
function withoutTasks(result: JsonObject, context: Context): JsonObject {
	const capabilities = objectOf(result.capabilities);
	if (!('tasks' in capabilities)) return result;
	context.lost('tasks');
	return {...result, capabilities: without(capabilities, 'tasks')};
}

/** A receiver without tasks does the work at once and answers with the result itself. */
function withoutTask(params: JsonObject, context: Context): JsonObject {
	if ('task' in params) context.lost('tasks');
	return without(params, 'task');
}

function refuseMethod(method: string) {
	return (_params: JsonObject, {direction, to, lost}: Context): Refusal => {
		lost('tasks');
		const who = direction === 'toUpstream' ? 'server' : 'client';
		return new Refusal(-32601, `Method not found: ${method} (the ${who} speaks protocol ${to})`);
	};
}

function olderElicitation(params: JsonObject, context: Context): Verdict {
	const {elicitation} = context.clientCapabilities;
	// A client without any is refused by the version that brought it.
	if (context.to < '2025-06-18' && elicitation === undefined) return params;
	if (params.mode === 'url') {
		if (isObject(elicitation) && 'url' in elicitation) return withoutTask(params, context);
		context.lost('elicitation by URL');
		const message = 'Invalid params: elicitation mode "url" is not supported by the client';
		return new Refusal(-32602, `${message} (protocol ${context.to})`);
	}
	const older = without(withoutTask(params, context), 'mode');
	const form = objectOf(params.requestedSchema);
	const length = boxesLength(form);
	if (length === undefined) {
		context.lost('choices of several in forms');
		const message = 'Invalid params: the form has too many options, or too long ones, to choose several of';
		return new Refusal(-32602, `${message} (protocol ${context.to})`);
	}
	const {schema, answer, hasLostLimits} = olderForm(form);
	if (answer) context.memory.forms.add(context.id, answer, length);
	if (hasLostLimits) context.lost('limits on choices in forms');
	return schema === params.requestedSchema ? older : {...older, requestedSchema: schema};
}

function readForm(result: JsonObject, {memory: {forms}, id}: Context): JsonObject {
	const answer = forms.take(id);
	return answer && isObject(result.content) ? {...result, content: answer(result.content)} : result;
}

function olderSampling(params: JsonObject, context: Context): Verdict {
	const {sampling} = context.clientCapabilities;
	const older = withoutTask(params, context);
	if (isObject(sampling) && 'tools' in sampling) return older;
	if ('tools' in params) {
		context.lost('tools in sampling');
		const message = 'Invalid params: tools in sampling are not supported by the client';
		return new Refusal(-32602, `${message} (protocol ${context.to})`);
	}
	const messages = listOf(params.messages);
	const blocks = messages.reduce<number>((sum, message) => sum + listOf(objectOf(message).content).length, 0);
	if (blocks > MAX_SPLIT_BLOCKS) {
		context.lost('lists of content in sampling');
		const message = `Invalid params: ${blocks} blocks of content in lists, the limit is ${MAX_SPLIT_BLOCKS}`;
		return new Refusal(-32602, `${message} (protocol ${context.to})`);
	}
	const single = messages.flatMap(message => singleContents(objectOf(message), context));
	const isSame = single.length === messages.length && single.every((message, at) => message === messages[at]);
	return isSame ? older : {...older, messages: single};
}

const roles: ReadonlySet<unknown> = new Set(['user', 'assistant']);

/**
 * Messages of one block each, of the same role, are equal. The first has all other members: a copy of them for each
 * block would make a large message of a small one. So would a role that is not one.
 */
function singleContents(message: JsonObject, context: Context): JsonObject[] {
	const {content} = message;
	const blocks = Array.isArray(content) ? content : [content];
	const older = blocks.map(block => (isObject(block) ? toolUseToText(block, context) : block));
	if (!Array.isArray(content) && older[0] === content) return [message];
	const role = roles.has(message.role) ? {role: message.role} : {};
	return older.map((block, at) => (at === 0 ? {...message, content: block} : {...role, content: block}));
}

function toolUseToText(block: JsonObject, context: Context): JsonObject {
	if (block.type !== 'tool_use' && block.type !== 'tool_result') return block;
	context.lost('tools in sampling');
	return text(JSON.stringify(block));
}

/** One block for what was a list: the text of all, or the first that is none. The list itself is kept. */
function listToOne(result: JsonObject, context: Context): JsonObject {
	const {content} = result;
	if (!Array.isArray(content)) {
		const single = toolUseToText(objectOf(content), context);
		if (isObject(content) && single !== content) context.keep('/content', content);
		return isObject(content) && single !== content ? {...result, content: single} : result;
	}
	context.lost('lists of content in sampling');
	context.keep('/content', content);
	const blocks = content.map(block => toolUseToText(objectOf(block), context));
	const other = blocks.find(({type}) => type !== 'text');
	return {...result, content: other ?? text(blocks.map(block => block.text).join('\n\n'))};
}

/** An older client shows the message alone, so that is where the link has to be. */
function linkInMessage(error: JsonObject): JsonObject {
	if (error.code !== -32042) return error;
	const links = listOf(objectOf(error.data).elicitations)
		.map(objectOf)
		.map(({url, message}) => `Open: ${worded(url)}${message === undefined ? '' : ` (${worded(message)})`}`);
	return links.length === 0 ? error : {...error, message: `${worded(error.message)} ${links.join(' ')}`};
}
