import {isObject, type JsonObject, mapMember, mapObjects, objectOf, without} from '../util/json.js';
import {withTextBlock} from './content.js';

// Since 2026-07-28, tools may return any JSON value and describe it with any schema. Before, the value was
// an object.

/** Whether a tool's output is not an object. Handshake clients would reject the whole list of tools. */
export const needsWrapper = ({outputSchema}: JsonObject): boolean =>
	outputSchema !== undefined && objectOf(outputSchema).type !== 'object';

/** Converts a list of tools for handshake clients: output that is not an object is wrapped in one. */
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

/** Removes `execution`, which 2026-07-28 no longer has, from a list of tools. */
export const toStatelessTools = (result: JsonObject): JsonObject =>
	mapMember(result, 'tools', tools => mapObjects(tools, tool => without(tool, 'execution')));

const wrappedSchema = (schema: unknown): JsonObject => ({
	type: 'object',
	properties: {result: moveReferences(schema)},
	required: ['result'],
});

/** Replaces boolean schemas of properties with equivalent objects. */
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

export function wrapOutput(result: JsonObject, isToolWrapped: boolean): JsonObject {
	const {structuredContent} = result;
	if (structuredContent === undefined || (!isToolWrapped && isObject(structuredContent))) return result;
	const content = withTextBlock(result.content, structuredContent);
	return {...result, content, structuredContent: {result: structuredContent}};
}

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

/** Adapts the local references of a schema that moves one level deeper. */
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
