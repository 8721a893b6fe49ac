import {withText} from './content.js';
import {changed, eachObject, isObject, type JsonObject, objectOf, without} from './json.js';

// 2026-07-28 lets tools give back anything, and describe it with any schema. Before, all of it was an object.

/** Whether a tool's output is not an object, which handshake clients throw the whole list of tools away for. */
export const isWrapped = ({outputSchema}: JsonObject): boolean =>
	outputSchema !== undefined && objectOf(outputSchema).type !== 'object';

/** A list of tools with each output an object: what is none becomes its only member. */
export const handshakeTools = (result: JsonObject): JsonObject =>
	changed(result, 'tools', tools =>
		eachObject(tools, tool => {
			const {inputSchema, outputSchema} = tool;
			const input = withoutBooleans(inputSchema);
			const output = isWrapped(tool) ? wrappedSchema(outputSchema) : withoutBooleans(outputSchema);
			return changed(
				changed(tool, 'inputSchema', () => input),
				'outputSchema',
				() => output,
			);
		}),
	);

/** A list of tools without the member that 2026-07-28 has removed. */
export const modernTools = (result: JsonObject): JsonObject =>
	changed(result, 'tools', tools => eachObject(tools, tool => without(tool, 'execution')));

const wrappedSchema = (schema: unknown): JsonObject => ({
	type: 'object',
	properties: {result: moveReferences(schema)},
	required: ['result'],
});

/** A schema whose properties are objects: what allows everything or nothing can be said so, too. */
const withoutBooleans = (schema: unknown): unknown =>
	isObject(schema) && isObject(schema.properties)
		? changed(schema, 'properties', properties => {
				const entries = Object.entries(objectOf(properties));
				if (!entries.some(([, property]) => typeof property === 'boolean')) return properties;
				return Object.fromEntries(
					entries.map(([name, property]) => [
						name,
						typeof property === 'boolean' ? anyOrNone(property) : property,
					]),
				);
			})
		: schema;

const anyOrNone = (isAny: boolean): JsonObject => (isAny ? {} : {not: {}});

/** A result whose structured content is an object, and stands as text, too. */
export function wrapOutput(result: JsonObject, isWrappedTool: boolean): JsonObject {
	const {structuredContent} = result;
	if (structuredContent === undefined || (!isWrappedTool && isObject(structuredContent))) return result;
	const content = withText(result.content, structuredContent);
	return {...result, content, structuredContent: {result: structuredContent}};
}

/** Params of a request for sampling whose tools, and what they gave back, are such as handshake clients take. */
export const handshakeSampling = (params: JsonObject): JsonObject =>
	changed(handshakeTools(params), 'messages', messages =>
		eachObject(messages, message =>
			changed(message, 'content', content =>
				isObject(content) ? toolOutput(content) : eachObject(content, toolOutput),
			),
		),
	);

const toolOutput = (block: JsonObject): JsonObject =>
	block.type === 'tool_result' ? wrapOutput(block, false) : block;

/** A schema that stands a level deeper than it was written for. */
function moveReferences(schema: unknown): unknown {
	if (Array.isArray(schema)) return schema.map(moveReferences);
	if (!isObject(schema)) return schema;
	return Object.fromEntries(
		Object.entries(schema).map(([name, value]) => {
			const isLocal = name === '$ref' && typeof value === 'string' && value.startsWith('#');
			if (isLocal && (value === '#' || value.startsWith('#/')))
				return [name, `#/properties/result${value.slice(1)}`];
			return [name, moveReferences(value)];
		}),
	);
}
