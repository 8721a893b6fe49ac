import {isObject, type JsonObject, mapMember, mapObjects, toText} from '../util/json.js';
import {marks} from '../wire/marks.js';
import {
	type BlockMapper,
	mapMessageBlocks,
	mapToolResultBlocks,
	supportsContentType,
	textBlock,
} from './content.js';
import {
	ifMarked,
	RpcErrorReply,
	type RuleContext,
	type RuleResult,
	type TranslationRule,
} from './translation-rule.js';

/**
 * Repairs for server faults that make clients reject a whole result. They apply between any two versions, to
 * results that are parsed for another reason.
 */
export const repairs: {readonly [method: string]: readonly TranslationRule[]} = {
	'tools/list': [{apply: addInputSchemas}],
	'tools/call': [
		ifMarked(marks.otherType, unknownToText(mapToolResultBlocks)),
		ifMarked(marks.lastModified, mapToolResultBlocks(removeInvalidLastModified)),
	],
	'prompts/get': [
		ifMarked(marks.otherType, unknownToText(mapMessageBlocks)),
		ifMarked(marks.lastModified, mapMessageBlocks(removeInvalidLastModified)),
	],
	'resources/list': [ifMarked(marks.lastModified, removeInvalidDates('resources'))],
	'resources/templates/list': [ifMarked(marks.lastModified, removeInvalidDates('resourceTemplates'))],
};

/** Wrong names of notifications, with the intended ones. Version 1.0.1 of the SDK sends `cancelled`. */
export const misnamedNotifications: ReadonlyMap<unknown, string> = new Map([
	['cancelled', 'notifications/cancelled'],
]);

/** Adds the missing type of input schemas. A single tool without it makes clients reject the whole list. */
function addInputSchemas(result: JsonObject): JsonObject {
	return mapMember(result, 'tools', tools =>
		mapObjects(tools, tool => {
			const schema = tool.inputSchema;
			if (isObject(schema) && schema.type === 'object') return tool;
			return {...tool, inputSchema: isObject(schema) ? {...schema, type: 'object'} : {type: 'object'}};
		}),
	);
}

/** The maximum number of characters shown of a block of unknown type. */
const MAX_SHOWN = 16 * 1024;

/**
 * The maximum number of unknown blocks in a result. Each becomes a text that may be longer than the block.
 */
const MAX_UNKNOWN = 10_000;

/** Converts content of unknown types to text. A result with too many such blocks becomes an error. */
function unknownToText(mapBlocks: BlockMapper) {
	return (value: JsonObject, context: RuleContext): RuleResult => {
		let count = 0;
		const shown = mapBlocks(block => {
			if (supportsContentType(context.to, block.type)) return block;
			context.reportLoss('content of unknown types');
			return ++count > MAX_UNKNOWN ? block : toTextBlock(block, context);
		})(value, context);
		if (count <= MAX_UNKNOWN) return shown;
		const message = `The result has ${count} blocks of types unknown to protocol ${context.to}`;
		return new RpcErrorReply(-32603, `${message}; the limit is ${MAX_UNKNOWN}.`);
	};
}

function toTextBlock(block: JsonObject, {to}: RuleContext): JsonObject {
	const json = JSON.stringify(block);
	const shown =
		json.length <= MAX_SHOWN ? json : `${json.slice(0, MAX_SHOWN)}… (${json.length} characters in total)`;
	return textBlock(`[content of type "${toText(block.type)}", not known to protocol ${to}] ${shown}`);
}

const ISO_DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

/** Clients that validate `lastModified` require a date with time, and reject the result otherwise. */
function removeInvalidLastModified(item: JsonObject, pointer: string, context: RuleContext): JsonObject {
	const {annotations} = item;
	if (!isObject(annotations) || annotations.lastModified === undefined) return item;
	const {lastModified, ...rest} = annotations;
	if (typeof lastModified === 'string' && ISO_DATE_TIME.test(lastModified)) return item;
	context.keepOriginal(`${pointer}/annotations/lastModified`, lastModified);
	return {...item, annotations: rest};
}

function removeInvalidDates(member: string) {
	return (result: JsonObject, context: RuleContext): JsonObject =>
		mapMember(result, member, items =>
			mapObjects(items, (item, index) => removeInvalidLastModified(item, `/${member}/${index}`, context)),
		);
}
