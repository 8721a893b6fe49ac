import {marks} from '../wire/marks.js';
import {inMessages, inToolResult, text, withText} from './content.js';
import {changed, eachObject, type JsonObject, objectOf, worded} from './json.js';
import {type Context, ifMarked, ifMentions, Refusal, Reply, type Step, type Verdict} from './step.js';

/** 2025-06-18 brought links to resources, structured output, elicitation and titles, and took batches away. */
export const v20250618: Step = {
	version: '2025-06-18',
	down: {
		results: {
			'tools/list': ifMentions(['"title"'], titleAsAnnotation),
			'tools/call': ifMarked(marks.resourceLink | marks.structuredContent, (result, context) =>
				structureAsText(inToolResult(linkToText)(result, context)),
			),
			'prompts/get': ifMarked(marks.resourceLink, inMessages(linkToText)),
		},
		requests: {
			'elicitation/create': {apply: withoutElicitation},
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

/** The version before has one place for a tool's display name. */
function titleAsAnnotation(result: JsonObject, {to}: Context): JsonObject {
	if (to !== '2025-03-26') return result;
	return changed(result, 'tools', tools =>
		eachObject(tools, tool => {
			const annotations = objectOf(tool.annotations);
			if (typeof tool.title !== 'string' || 'title' in annotations) return tool;
			return {...tool, annotations: {...annotations, title: tool.title}};
		}),
	);
}

/** A model reads the uri, and can ask for the resource. To embed it would be to fetch it unasked. */
function linkToText(block: JsonObject, pointer: string, context: Context): JsonObject {
	if (block.type !== 'resource_link') return block;
	context.lost('links to resources');
	context.keep(pointer, block);
	const {uri, name, title, description, mimeType, size} = block;
	const length = size === undefined ? undefined : `${worded(size)} bytes`;
	const facts = [mimeType, length].filter(fact => fact !== undefined).map(worded);
	const about = facts.length > 0 ? ` ${facts.join(', ')}` : '';
	const words = description === undefined ? '' : `: ${worded(description)}`;
	return text(`[${worded(title ?? name)}](${worded(uri)})${about}${words}`, block);
}

/** Old clients read `content` alone, and the oldest throw the result away when there is none. */
function structureAsText(result: JsonObject): JsonObject {
	const {structuredContent} = result;
	if (structuredContent === undefined) return result;
	return changed(result, 'content', content => withText(content, structuredContent));
}

/** A client that has declared it can, whatever version it was told, is asked. */
function withoutElicitation(params: JsonObject, context: Context): Verdict {
	if ('elicitation' in context.clientCapabilities) return params;
	context.lost('elicitation');
	// Never a refusal in the name of somebody who was not asked.
	if (context.isShared) return new Reply({action: 'cancel'});
	return new Refusal(
		-32601,
		`Method not found: the client does not support elicitation (protocol ${context.to})`,
	);
}
