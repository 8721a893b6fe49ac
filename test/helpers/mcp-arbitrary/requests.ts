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

/** The params of each method. They are undefined where a message may omit them. */
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

/** The description of the client in every request since 2026-07-28. */
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

const paramsOf = (version: McpVersion, required: ValuesByName, optional: ValuesByName = {}): Values =>
	since(version, '2026-07-28')
		? objectOf({...required, _meta: envelope(version)}, optional)
		: objectOf(required, {...optional, _meta: meta(version, {}, {progressToken})});

/** Params that may be omitted, unless they have to contain an envelope. */
const freeParams = (version: McpVersion, optional: ValuesByName = {}): fc.Arbitrary<Members | undefined> => {
	const params = paramsOf(version, {}, optional);
	return since(version, '2026-07-28') ? params : fc.option(params, {nil: undefined});
};

/** The member that requests execution as a task. */
const asTask = (version: McpVersion): ValuesByName =>
	when(version === '2025-11-25', {task: objectOf({}, {ttl: fc.nat()})});

/** The members of a retry after an input_required result. */
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

const commonRequests = (version: McpVersion): ParamsByMethod => {
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
			...commonRequests(version),
			'server/discover': paramsOf(version, {}),
			'subscriptions/listen': paramsOf(version, {notifications: subscriptionFilter(uri)}),
		};
	return {
		...commonRequests(version),
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

/** The params of server requests, which are in an input_required result since 2026-07-28. */
const inputParams = (version: McpVersion, common: ValuesByName): {[method: string]: Values} => ({
	'sampling/createMessage': samplingParams(version, common),
	...(since(version, '2025-06-18') ? {'elicitation/create': elicitParams(version, common)} : {}),
});

export function serverRequests(version: McpVersion): ParamsByMethod {
	if (since(version, '2026-07-28')) return {};
	const common = {_meta: meta(version, {}, {progressToken}), ...asTask(version)};
	return {
		...inputParams(version, common),
		...taskRequests(version),
		ping: freeParams(version),
		'roots/list': freeParams(version),
	};
}

export function inputRequests(version: McpVersion, minKeys = 0): Values {
	const requests = Object.entries(inputParams(version, {})).map(([method, params]) =>
		objectOf({method: fc.constant(method), params}),
	);
	const roots = objectOf({method: fc.constant('roots/list')}, {params: objectOf({}, itemMeta(version))});
	return mapOf(fc.oneof(...requests, roots), minKeys);
}
