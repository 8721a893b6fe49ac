import {marks} from '../wire/marks.js';
import {type BlockPlace, inMessages, inToolResult, isKnownTo, text} from './content.js';
import {changed, eachObject, isObject, type JsonObject, worded} from './json.js';
import {type Context, ifMarked, Refusal, type Rule, type Verdict} from './step.js';

/**
 * Faults of servers that every client of a kind throws a whole answer away for. Repaired where an answer is touched
 * anyway, whatever the versions are.
 */
export const repairs: {readonly [method: string]: readonly Rule[]} = {
	'tools/list': [{apply: giveInputSchemas}],
	'tools/call': [
		ifMarked(marks.otherType, unknownToText(inToolResult)),
		ifMarked(marks.lastModified, inToolResult(checkLastModified)),
	],
	'prompts/get': [
		ifMarked(marks.otherType, unknownToText(inMessages)),
		ifMarked(marks.lastModified, inMessages(checkLastModified)),
	],
	'resources/list': [ifMarked(marks.lastModified, checkItems('resources'))],
	'resources/templates/list': [ifMarked(marks.lastModified, checkItems('resourceTemplates'))],
};

/** Notifications that clients have sent under a name that no server knows, with the name that is meant: SDK 1.0.1 has. */
export const misnamed: ReadonlyMap<unknown, string> = new Map([['cancelled', 'notifications/cancelled']]);

/** One tool without the type of its input makes clients throw all tools away. */
function giveInputSchemas(result: JsonObject): JsonObject {
	return changed(result, 'tools', tools =>
		eachObject(tools, tool => {
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
function unknownToText(within: BlockPlace) {
	return (value: JsonObject, context: Context): Verdict => {
		let count = 0;
		const shown = within(block => {
			if (isKnownTo(context.to, block.type)) return block;
			context.lost('content of unknown types');
			return ++count > MAX_UNKNOWN ? block : shownAsText(block, context);
		})(value, context);
		if (count <= MAX_UNKNOWN) return shown;
		const message = `The result has ${count} blocks of content of types that protocol ${context.to} does not have`;
		return new Refusal(-32603, `${message}; the limit is ${MAX_UNKNOWN}.`);
	};
}

function shownAsText(block: JsonObject, {to}: Context): JsonObject {
	const json = JSON.stringify(block);
	const shown =
		json.length <= MAX_SHOWN ? json : `${json.slice(0, MAX_SHOWN)}… (${json.length} characters in all)`;
	return text(`[content of type "${worded(block.type)}", not known to protocol ${to}] ${shown}`);
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

/** Clients that know the member want a full date with time, and throw the answer away otherwise. */
function checkLastModified(item: JsonObject, pointer: string, context: Context): JsonObject {
	const {annotations} = item;
	if (!isObject(annotations) || annotations.lastModified === undefined) return item;
	const {lastModified, ...rest} = annotations;
	if (typeof lastModified === 'string' && ISO.test(lastModified)) return item;
	context.keep(`${pointer}/annotations/lastModified`, lastModified);
	return {...item, annotations: rest};
}

function checkItems(member: string) {
	return (result: JsonObject, context: Context): JsonObject =>
		changed(result, member, items =>
			eachObject(items, (item, index) => checkLastModified(item, `/${member}/${index}`, context)),
		);
}
