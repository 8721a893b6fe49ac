import fc from 'fast-check';
import type {McpVersion} from '../mcp-version.js';
import {samplingMessage} from './content.js';
import {elicitParams, elicitResult} from './elicitation.js';
import {clientCapabilities, implementation, subscriptionFilter, tool} from './features.js';
import {modelResult, rootsResult} from './results.js';
import {
	cursor,
	fraction,
	itemMeta,
	json,
	listOf,
	type Members,
	mapOf,
	meta,
	name,
	number,
	objectOf,
	openObject,
	progressToken,
	since,
	taskId,
	text,
	title,
	uri,
	uriTemplate,
	type Values,
	type ValuesByName,
	when,
} from './values.js';

/** The parameters of each method; undefined where a message goes without. */
export type ParamsByMethod = {readonly [method: string]: fc.Arbitrary<Members | undefined>};

export const logLevel = fc.constantFrom(
	'debug',
	'info',
	'notice',
	'warning',
	'error',
	'critical',
	'alert',
	'emergency',
);

/** What the client says of itself with every request since 2026-07-28. */
const envelope = (version: McpVersion): Values =>
	meta(
		version,
		{
			'io.modelcontextprotocol/protocolVersion': fc.constant(version),
			'io.modelcontextprotocol/clientCapabilities': clientCapabilities(version),
		},
		{
			'io.modelcontextprotocol/clientInfo': implementation(version),
			'io.modelcontextprotocol/logLevel': logLevel,
			progressToken,
		},
	);

/** Parameters of a request, with the `_meta` that the version wants or takes. */
const paramsOf = (version: McpVersion, required: ValuesByName, optional: ValuesByName = {}): Values =>
	since(version, '2026-07-28')
		? objectOf({...required, _meta: envelope(version)}, optional)
		: objectOf(required, {...optional, _meta: meta(version, {}, {progressToken})});

/** Parameters that may be left out, while no envelope has to be in them. */
const freeParams = (version: McpVersion, optional: ValuesByName = {}): fc.Arbitrary<Members | undefined> => {
	const params = paramsOf(version, {}, optional);
	return since(version, '2026-07-28') ? params : fc.option(params, {nil: undefined});
};

/** A wish to have the request done as a task. */
const asTask = (version: McpVersion): ValuesByName =>
	when(version === '2025-11-25', {task: objectOf({}, {ttl: fc.nat()})});

/** What the client adds when it repeats a request whose result was input_required. */
const retry = (version: McpVersion): ValuesByName =>
	when(since(version, '2026-07-28'), {
		requestState: text,
		inputResponses: mapOf(
			fc.oneof(elicitResult(version, {}), modelResult(version, itemMeta(version)), rootsResult(version, {})),
		),
	});

const completionParams = (version: McpVersion): Values =>
	paramsOf(
		version,
		{
			ref: fc.oneof(
				objectOf({type: fc.constant('ref/prompt'), name}, title(version)),
				objectOf({type: fc.constant('ref/resource'), uri: uriTemplate}),
			),
			argument: objectOf({name, value: text}),
		},
		when(since(version, '2025-06-18'), {context: objectOf({}, {arguments: mapOf(text)})}),
	);

/** What the client may ask for in every version. */
const lastingRequests = (version: McpVersion): ParamsByMethod => {
	const page = freeParams(version, {cursor});
	return {
		'tools/list': page,
		'tools/call': paramsOf(version, {name}, {arguments: json.object, ...asTask(version), ...retry(version)}),
		'resources/list': page,
		'resources/templates/list': page,
		'resources/read': paramsOf(version, {uri}, retry(version)),
		'prompts/list': page,
		'prompts/get': paramsOf(version, {name}, {arguments: mapOf(text), ...retry(version)}),
		'completion/complete': completionParams(version),
	};
};

/** What both sides may ask each other for about tasks. */
const taskRequests = (version: McpVersion): ParamsByMethod => {
	if (version !== '2025-11-25') return {};
	const one = paramsOf(version, {taskId});
	return {
		'tasks/get': one,
		'tasks/result': one,
		'tasks/cancel': one,
		'tasks/list': freeParams(version, {cursor}),
	};
};

export function clientRequests(version: McpVersion): ParamsByMethod {
	if (since(version, '2026-07-28'))
		return {
			...lastingRequests(version),
			'server/discover': paramsOf(version, {}),
			'subscriptions/listen': paramsOf(version, {notifications: subscriptionFilter(uri)}),
		};
	return {
		...lastingRequests(version),
		...taskRequests(version),
		initialize: paramsOf(version, {
			protocolVersion: fc.constant(version),
			capabilities: clientCapabilities(version),
			clientInfo: implementation(version),
		}),
		ping: freeParams(version),
		'resources/subscribe': paramsOf(version, {uri}),
		'resources/unsubscribe': paramsOf(version, {uri}),
		'logging/setLevel': paramsOf(version, {level: logLevel}),
	};
}

const samplingParams = (version: McpVersion, common: ValuesByName): Values =>
	objectOf(
		{messages: listOf(samplingMessage(version)), maxTokens: fc.nat()},
		{
			...common,
			modelPreferences: objectOf(
				{},
				{
					hints: listOf(objectOf({}, {name: text})),
					costPriority: fraction,
					speedPriority: fraction,
					intelligencePriority: fraction,
				},
			),
			systemPrompt: text,
			includeContext: fc.constantFrom('none', 'thisServer', 'allServers'),
			temperature: number,
			stopSequences: listOf(text),
			metadata: openObject(version),
			...when(since(version, '2025-11-25'), {
				tools: listOf(tool(version), 2),
				toolChoice: objectOf({}, {mode: fc.constantFrom('auto', 'none', 'required')}),
			}),
		},
	);

/** What a server asks the client for: in requests of its own, and in an input_required result since 2026-07-28. */
const questions = (version: McpVersion, common: ValuesByName): {[method: string]: Values} => ({
	'sampling/createMessage': samplingParams(version, common),
	...(since(version, '2025-06-18') ? {'elicitation/create': elicitParams(version, common)} : {}),
});

export function serverRequests(version: McpVersion): ParamsByMethod {
	if (since(version, '2026-07-28')) return {};
	const common = {_meta: meta(version, {}, {progressToken}), ...asTask(version)};
	return {
		...questions(version, common),
		...taskRequests(version),
		ping: freeParams(version),
		'roots/list': freeParams(version),
	};
}

/** What the server has to know before it can answer, since 2026-07-28. */
export function inputRequests(version: McpVersion, minKeys = 0): Values {
	const asked = Object.entries(questions(version, {})).map(([method, params]) =>
		objectOf({method: fc.constant(method), params}),
	);
	const roots = objectOf({method: fc.constant('roots/list')}, {params: objectOf({}, itemMeta(version))});
	return mapOf(fc.oneof(...asked, roots), minKeys);
}
