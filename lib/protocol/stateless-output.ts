import {isObject, type JsonObject, mapMember, mapObjects, objectOf, without} from '../util/json.js';
import {withTextBlock} from './content.js';

// 2026-07-28 lets tools give back anything, and describe it with any schema. Before, all of it was an object.

/** Whether a tool's output is not an object, which handshake clients throw the whole list of tools away for. */
export const needsWrapper = ({outputSchema}: JsonObject): boolean =>
	outputSchema !== undefined && objectOf(outputSchema).type !== 'object';

/** A list of tools with each output an object: what is none becomes its only member. */
export const toHandshakeTools = (result: JsonObject): JsonObject =>
	mapMember(result, 'tools', tools =>
		mapObjects(tools, tool => {
			const {inputSchema, outputSchema} = tool;
			const input = withoutBooleanSchemas(inputSchema);
			const output = needsWrapper(tool) ? wrappedSchema(outputSchema) : withoutBooleanSchemas(outputSchema);
			return mapMember(
				mapMember(tool, 'inputSchema', () => input),
				'outputSchema',
				() => output,
			);
		}),
	);

/** A list of tools without the member that 2026-07-28 has removed. */
export const toStatelessTools = (result: JsonObject): JsonObject =>
	mapMember(result, 'tools', tools => mapObjects(tools, tool => without(tool, 'execution')));

const wrappedSchema = (schema: unknown): JsonObject => ({
	type: 'object',
	properties: {result: moveReferences(schema)},
	required: ['result'],
});

/** A schema whose properties are objects: what allows everything or nothing can be said so, too. */
const withoutBooleanSchemas = (schema: unknown): unknown =>
	isObject(schema) && isObject(schema.properties)
		? mapMember(schema, 'properties', properties => {
				const entries = Object.entries(objectOf(properties));
				if (!entries.some(([, property]) => typeof property === 'boolean')) return properties;
				return Object.fromEntries(
					entries.map(([name, property]) => [
						name,
						typeof property === 'boolean' ? booleanSchema(property) : property,
					]),
				);
			})
		: schema;

const booleanSchema = (isAny: boolean): JsonObject => (isAny ? {} : {not: {}});

/** A result whose structured content is an object, and stands as text, too. */
export function wrapOutput(result: JsonObject, isToolWrapped: boolean): JsonObject {
	const {structuredContent} = result;
	if (structuredContent === undefined || (!isToolWrapped && isObject(structuredContent))) return result;
	const content = withTextBlock(result.content, structuredContent);
	return {...result, content, structuredContent: {result: structuredContent}};
}

/** Params of a request for sampling whose tools, and what they gave back, are such as handshake clients take. */
export const toHandshakeSampling = (params: JsonObject): JsonObject =>
	mapMember(toHandshakeTools(params), 'messages', messages =>
		mapObjects(messages, message =>
			mapMember(message, 'content', content =>
				isObject(content) ? wrapToolResult(content) : mapObjects(content, wrapToolResult),
			),
		),
	);

const wrapToolResult = (block: JsonObject): JsonObject =>
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
