import {type JsonObject, mapMember, mapObjects, objectOf, toText} from '../util/json.js';
import {marks} from '../wire/marks.js';
import {mapMessageBlocks, mapToolResultBlocks, textBlock, withTextBlock} from './content.js';
import {
	ifContains,
	ifMarked,
	RpcErrorReply,
	type RuleContext,
	type RuleResult,
	SyntheticResult,
	type VersionStep,
} from './translation-rule.js';

/** 2025-06-18 added links to resources, structured output, elicitation and titles, and removed batches. */
export const v20250618: VersionStep = {
	version: '2025-06-18',
	down: {
		results: {
			'tools/list': ifContains(['"title"'], titleToAnnotation),
			'tools/call': ifMarked(marks.resourceLink | marks.structuredContent, (result, context) =>
				structuredContentToText(mapToolResultBlocks(linkToText)(result, context)),
			),
			'prompts/get': ifMarked(marks.resourceLink, mapMessageBlocks(linkToText)),
		},
		requests: {
			'elicitation/create': {apply: rejectElicitation},
		},
	},
	up: {},
	members: {
		tool: ['title', 'outputSchema', '_meta'],
		resource: ['title', '_meta'],
		template: ['title', '_meta'],
		prompt: ['title', '_meta'],
		argument: ['title'],
		implementation: ['title'],
		toolResult: ['structuredContent'],
		content: ['_meta'],
		contents: ['_meta'],
		root: ['_meta'],
		annotations: ['lastModified'],
		completion: ['context'],
		reference: ['title'],
	},
};

/** Copies the title of a tool to its annotations, the only place for it in 2025-03-26. */
function titleToAnnotation(result: JsonObject, {to}: RuleContext): JsonObject {
	if (to !== '2025-03-26') return result;
	return mapMember(result, 'tools', tools =>
		mapObjects(tools, tool => {
			const annotations = objectOf(tool.annotations);
			if (typeof tool.title !== 'string' || 'title' in annotations) return tool;
			return {...tool, annotations: {...annotations, title: tool.title}};
		}),
	);
}

/** Converts a link to text with its URI. Embedding the resource would require an extra request. */
function linkToText(block: JsonObject, pointer: string, context: RuleContext): JsonObject {
	if (block.type !== 'resource_link') return block;
	context.reportLoss('links to resources');
	context.keepOriginal(pointer, block);
	const {uri, name, title, description, mimeType, size} = block;
	const length = size === undefined ? undefined : `${toText(size)} bytes`;
	const facts = [mimeType, length].filter(fact => fact !== undefined).map(toText);
	const about = facts.length > 0 ? ` ${facts.join(', ')}` : '';
	const suffix = description === undefined ? '' : `: ${toText(description)}`;
	return textBlock(`[${toText(title ?? name)}](${toText(uri)})${about}${suffix}`, block);
}

/**
 * Adds structured content as text. Old clients read only `content`, and the oldest reject results without it.
 */
function structuredContentToText(result: JsonObject): JsonObject {
	const {structuredContent} = result;
	if (structuredContent === undefined) return result;
	return mapMember(result, 'content', content => withTextBlock(content, structuredContent));
}

/** Rejects elicitation, unless the client declared support for it. Its version does not matter. */
function rejectElicitation(params: JsonObject, context: RuleContext): RuleResult {
	if ('elicitation' in context.clientCapabilities) return params;
	context.reportLoss('elicitation');
	// A decline would claim that a user was prompted.
	if (context.isShared) return new SyntheticResult({action: 'cancel'});
	return new RpcErrorReply(
		-32601,
		`Method not found: the client does not support elicitation (protocol ${context.to})`,
	);
}
