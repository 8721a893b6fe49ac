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
 * Faults of servers that every client of a kind throws a whole answer away for. Repaired where an answer is touched
 * anyway, whatever the versions are.
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

/** Notifications that clients have sent under a name that no server knows, with the name that is meant: SDK 1.0.1 has. */
export const misnamedNotifications: ReadonlyMap<unknown, string> = new Map([
	['cancelled', 'notifications/cancelled'],
]);

/** One tool without the type of its input makes clients throw all tools away. */
function addInputSchemas(result: JsonObject): JsonObject {
	return mapMember(result, 'tools', tools =>
		mapObjects(tools, tool => {
			const schema = tool.inputSchema;
			if (isObject(schema) && schema.type === 'object') return tool;
			return {...tool, inputSchema: isObject(schema) ? {...schema, type: 'object'} : {type: 'object'}};
		}),
	);
}

/** How much of a block of an unknown kind is shown. */
const MAX_SHOWN = 16 * 1024;

/** Blocks of unknown kinds in one result: each becomes a text that is longer than the least of them. */
const MAX_UNKNOWN = 10_000;

/** Shows content of unknown kinds as text. A result with too much of it becomes an error. */
function unknownToText(mapBlocks: BlockMapper) {
	return (value: JsonObject, context: RuleContext): RuleResult => {
		let count = 0;
		const shown = mapBlocks(block => {
			if (supportsContentType(context.to, block.type)) return block;
			context.reportLoss('content of unknown types');
			return ++count > MAX_UNKNOWN ? block : toTextBlock(block, context);
		})(value, context);
		if (count <= MAX_UNKNOWN) return shown;
		const message = `The result has ${count} blocks of content of types that protocol ${context.to} does not have`;
		return new RpcErrorReply(-32603, `${message}; the limit is ${MAX_UNKNOWN}.`);
	};
}

function toTextBlock(block: JsonObject, {to}: RuleContext): JsonObject {
	const json = JSON.stringify(block);
	const shown =
		json.length <= MAX_SHOWN ? json : `${json.slice(0, MAX_SHOWN)}… (${json.length} characters in all)`;
	return textBlock(`[content of type "${toText(block.type)}", not known to protocol ${to}] ${shown}`);
}

const ISO_DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

/** Clients that know the member want a full date with time, and throw the answer away otherwise. */
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
