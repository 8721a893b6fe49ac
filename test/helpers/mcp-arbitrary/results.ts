import fc from 'fast-check';
import type {McpVersion} from '../mcp-version.js';
import {
	contentBlock,
	modelContent,
	resource,
	resourceContents,
	resourceTemplate,
	structuredContent,
} from './content.js';
import {elicitResult} from './elicitation.js';
import {implementation, prompt, promptMessage, serverCapabilities, task, tool} from './features.js';
import {
	cursor,
	fileUri,
	itemMeta,
	listOf,
	meta,
	objectOf,
	since,
	size,
	text,
	type Values,
	type ValuesByName,
	when,
} from './values.js';

export type ResultsByMethod = {readonly [method: string]: Values};

export const modelResult = (version: McpVersion, common: ValuesByName): Values =>
	objectOf(
		{role: fc.constant('assistant'), model: text, content: modelContent(version)},
		{stopReason: fc.constantFrom('endTurn', 'stopSequence', 'maxTokens', 'toolUse', 'other'), ...common},
	);

export const rootsResult = (version: McpVersion, common: ValuesByName): Values =>
	objectOf({roots: listOf(objectOf({uri: fileUri}, {name: text, ...itemMeta(version)}))}, common);

const legacyMeta = (version: McpVersion): ValuesByName => ({_meta: meta(version)});

/** A result with the members that every result of the version has. */
export const resultOf = (version: McpVersion, required: ValuesByName, optional: ValuesByName = {}): Values =>
	since(version, '2026-07-28')
		? objectOf(
				{resultType: fc.constant('complete'), ...required},
				{...optional, _meta: statelessMeta(version)},
			)
		: objectOf(required, {...optional, ...legacyMeta(version)});

export const statelessMeta = (version: McpVersion, required: ValuesByName = {}): Values =>
	meta(version, required, {'io.modelcontextprotocol/serverInfo': implementation(version)});

/** A result that may be cached, since 2026-07-28. */
const cacheableResult = (version: McpVersion, required: ValuesByName, optional: ValuesByName = {}): Values =>
	resultOf(
		version,
		{
			...required,
			...when(since(version, '2026-07-28'), {ttlMs: size, cacheScope: fc.constantFrom('public', 'private')}),
		},
		optional,
	);

const completion = objectOf({values: listOf(text)}, {total: fc.nat(), hasMore: fc.boolean()});

const pageOf = (version: McpVersion, key: string, items: Values): Values =>
	cacheableResult(version, {[key]: listOf(items)}, {nextCursor: cursor});

const toolResult = (version: McpVersion): Values =>
	resultOf(
		version,
		{content: listOf(contentBlock(version))},
		{isError: fc.boolean(), ...structuredContent(version)},
	);

const commonResults = (version: McpVersion): ResultsByMethod => ({
	'tools/list': pageOf(version, 'tools', tool(version)),
	'tools/call': toolResult(version),
	'resources/list': pageOf(version, 'resources', resource(version)),
	'resources/templates/list': pageOf(version, 'resourceTemplates', resourceTemplate(version)),
	'resources/read': cacheableResult(version, {contents: listOf(resourceContents(version))}),
	'prompts/list': pageOf(version, 'prompts', prompt(version)),
	'prompts/get': resultOf(version, {messages: listOf(promptMessage(version))}, {description: text}),
	'completion/complete': resultOf(version, {completion}),
});

/** The results of requests about tasks. A finished task returns the result of its original request. */
const taskResults = (version: McpVersion, finished: Values): ResultsByMethod => {
	if (version !== '2025-11-25') return {};
	const own = legacyMeta(version);
	return {
		'tasks/get': task(own),
		'tasks/cancel': task(own),
		'tasks/list': objectOf({tasks: listOf(task())}, {nextCursor: cursor, ...own}),
		'tasks/result': finished,
	};
};

export function serverResults(version: McpVersion): ResultsByMethod {
	const capabilities = serverCapabilities(version);
	if (since(version, '2026-07-28'))
		return {
			...commonResults(version),
			'server/discover': cacheableResult(
				version,
				{capabilities, supportedVersions: fc.constantFrom([version], ['2025-11-25', version])},
				{instructions: text},
			),
			'subscriptions/listen': resultOf(version, {}),
		};
	const empty = resultOf(version, {});
	return {
		...commonResults(version),
		...taskResults(version, toolResult(version)),
		initialize: resultOf(
			version,
			{protocolVersion: fc.constant(version), capabilities, serverInfo: implementation(version)},
			{instructions: text},
		),
		ping: empty,
		'resources/subscribe': empty,
		'resources/unsubscribe': empty,
		'logging/setLevel': empty,
	};
}

/** The results that a client sends. Since 2026-07-28, it sends none. */
export function clientResults(version: McpVersion): ResultsByMethod {
	if (since(version, '2026-07-28')) return {};
	const own = legacyMeta(version);
	const model = modelResult(version, own);
	const elicited = elicitResult(version, own);
	return {
		ping: resultOf(version, {}),
		'roots/list': rootsResult(version, own),
		'sampling/createMessage': model,
		...(since(version, '2025-06-18') ? {'elicitation/create': elicited} : {}),
		...taskResults(version, fc.oneof(model, elicited)),
	};
}

/** The first response to a request that is executed as a task. */
export const taskCreated = (version: McpVersion): Values => objectOf({task: task()}, legacyMeta(version));
