import fc from 'fast-check';
import type {McpVersion} from '../mcp-version.js';
import {
	base64,
	dateTime,
	fraction,
	icons,
	itemMeta,
	json,
	listOf,
	mimeType,
	name,
	objectOf,
	since,
	size,
	text,
	title,
	uri,
	uriTemplate,
	type Values,
	type ValuesByName,
	when,
} from './values.js';

export const role = fc.constantFrom('user', 'assistant');

export const annotations = (version: McpVersion): ValuesByName => ({
	annotations: objectOf(
		{},
		{
			audience: fc.subarray(['user', 'assistant']),
			priority: fraction,
			...when(since(version, '2025-06-18'), {lastModified: dateTime}),
		},
	),
});

const block = (
	version: McpVersion,
	type: string,
	required: ValuesByName,
	optional: ValuesByName = {},
): Values =>
	objectOf(
		{type: fc.constant(type), ...required},
		{...optional, ...annotations(version), ...itemMeta(version)},
	);

export const resourceContents = (version: McpVersion): Values =>
	fc.oneof(
		objectOf({uri, text}, {mimeType, ...itemMeta(version)}),
		objectOf({uri, blob: base64}, {mimeType, ...itemMeta(version)}),
	);

const resourceMembers = (version: McpVersion): ValuesByName => ({
	description: text,
	mimeType,
	size,
	...title(version),
	...icons(version),
});

export const resource = (version: McpVersion): Values =>
	objectOf({uri, name}, {...resourceMembers(version), ...annotations(version), ...itemMeta(version)});

export const resourceTemplate = (version: McpVersion): Values =>
	objectOf(
		{uriTemplate, name},
		{
			description: text,
			mimeType,
			...title(version),
			...icons(version),
			...annotations(version),
			...itemMeta(version),
		},
	);

/** The blocks without resources, which sampling allows. */
const mediaBlocks = (version: McpVersion): Values[] => [
	block(version, 'text', {text}),
	block(version, 'image', {data: base64, mimeType: fc.constantFrom('image/png', 'image/svg+xml')}),
	...(since(version, '2025-03-26')
		? [block(version, 'audio', {data: base64, mimeType: fc.constantFrom('audio/wav', 'audio/mpeg')})]
		: []),
];

export const contentBlock = (version: McpVersion): Values =>
	fc.oneof(
		...mediaBlocks(version),
		block(version, 'resource', {resource: resourceContents(version)}),
		...(since(version, '2025-06-18')
			? [block(version, 'resource_link', {uri, name}, resourceMembers(version))]
			: []),
	);

export const structuredContent = (version: McpVersion): ValuesByName =>
	when(since(version, '2025-06-18'), {
		structuredContent: since(version, '2026-07-28') ? json.value : json.object,
	});

const toolUse = (version: McpVersion): Values =>
	objectOf({type: fc.constant('tool_use'), id: text, name, input: json.object}, itemMeta(version));

const toolResult = (version: McpVersion): Values =>
	objectOf(
		{type: fc.constant('tool_result'), toolUseId: text, content: listOf(contentBlock(version))},
		{isError: fc.boolean(), ...structuredContent(version), ...itemMeta(version)},
	);

/** One block, or a list of blocks in versions that allow it. */
const oneOrMore = (version: McpVersion, blocks: Values): fc.Arbitrary<unknown> =>
	since(version, '2025-11-25') ? fc.oneof(blocks, listOf(blocks)) : blocks;

/** The content of a model's message, with tool calls in versions that have them. */
export const modelContent = (version: McpVersion): fc.Arbitrary<unknown> => {
	const media = mediaBlocks(version);
	return oneOrMore(
		version,
		since(version, '2025-11-25') ? fc.oneof(...media, toolUse(version)) : fc.oneof(...media),
	);
};

/** A sampling message. Tool results are in a separate message of the user. */
export const samplingMessage = (version: McpVersion): Values => {
	const own = when(since(version, '2025-11-25'), itemMeta(version));
	const assistantMessage = objectOf({role: fc.constant('assistant'), content: modelContent(version)}, own);
	const userMessage = objectOf(
		{role: fc.constant('user'), content: oneOrMore(version, fc.oneof(...mediaBlocks(version)))},
		own,
	);
	if (!since(version, '2025-11-25')) return fc.oneof(assistantMessage, userMessage);
	const toolResults = oneOrMore(version, toolResult(version));
	return fc.oneof(
		assistantMessage,
		userMessage,
		objectOf({role: fc.constant('user'), content: toolResults}, own),
	);
};
