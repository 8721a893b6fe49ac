import fc from 'fast-check';
import type {McpVersion} from '../mcp-version.js';
import {contentBlock, role} from './content.js';
import {objectSchema, schemaDialect} from './schemas.js';
import {
	dateTime,
	icons,
	itemMeta,
	json,
	listOf,
	mapOf,
	name,
	objectOf,
	openObject,
	since,
	taskId,
	text,
	title,
	type Values,
	type ValuesByName,
	webUri,
	when,
} from './values.js';

const flag = fc.boolean();

const property: Values = fc.oneof(
	objectOf(
		{type: fc.constantFrom('string', 'number', 'boolean', 'null')},
		{title: text, description: text, default: json.value, 'x-mcp-header': name},
	),
	objectOf({type: fc.constant('array')}, {items: objectOf({type: fc.constant('string')})}),
	objectOf({enum: listOf(text)}),
	objectOf({anyOf: fc.constant([{type: 'string'}, {type: 'null'}])}),
	fc.constant({}),
);

/** A schema that 2026-07-28 allows: with any root type, and with references. */
const anySchema: Values = fc.oneof(
	objectOf({type: fc.constantFrom('array', 'string', 'integer')}, {description: text}),
	fc.constant({type: 'array', items: {$ref: '#/$defs/row'}, $defs: {row: {type: 'object'}}}),
	fc.constant({oneOf: [{type: 'string'}, {type: 'null'}]}),
	fc.constant({
		$ref: '#/$defs/node',
		$defs: {node: {type: 'object', properties: {next: {$ref: '#/$defs/node'}}}},
	}),
);

/** Before 2026-07-28, the schema of a property had to be an object. Now, it may be true or false. */
const newInputSchemas: Values[] = [
	fc.constant({type: 'object', anyOf: [{required: ['a']}, {$ref: '#/$defs/b'}], $defs: {b: {}}}),
	fc.constant({type: 'object', properties: {any: true, none: false}}),
];

const inputSchema = (version: McpVersion): Values =>
	fc.oneof(
		objectSchema(property, schemaDialect(version)),
		fc.constant({type: 'object'}),
		fc.constant({type: 'object', additionalProperties: false, description: 'nothing'}),
		...(since(version, '2026-07-28') ? newInputSchemas : []),
	);

const outputSchema = (version: McpVersion): Values => {
	const object = objectSchema(property, schemaDialect(version));
	return since(version, '2026-07-28') ? fc.oneof(object, anySchema) : object;
};

const toolAnnotations = objectOf(
	{},
	{title: text, readOnlyHint: flag, destructiveHint: flag, idempotentHint: flag, openWorldHint: flag},
);

export const tool = (version: McpVersion): Values =>
	objectOf(
		{name, inputSchema: inputSchema(version)},
		{
			description: text,
			...when(since(version, '2025-03-26'), {annotations: toolAnnotations}),
			...when(since(version, '2025-06-18'), {outputSchema: outputSchema(version)}),
			...when(version === '2025-11-25', {
				execution: objectOf({}, {taskSupport: fc.constantFrom('forbidden', 'optional', 'required')}),
			}),
			...title(version),
			...icons(version),
			...itemMeta(version),
		},
	);

export const prompt = (version: McpVersion): Values =>
	objectOf(
		{name},
		{
			description: text,
			arguments: listOf(objectOf({name}, {description: text, required: flag, ...title(version)})),
			...title(version),
			...icons(version),
			...itemMeta(version),
		},
	);

export const promptMessage = (version: McpVersion): Values =>
	objectOf({role, content: contentBlock(version)});

export const implementation = (version: McpVersion): Values =>
	objectOf(
		{name, version: fc.constantFrom('1.0.0', '0.0.1-beta+x', '')},
		{
			...title(version),
			...icons(version),
			...when(since(version, '2025-11-25'), {description: text, websiteUrl: webUri}),
		},
	);

const listChanged: ValuesByName = {listChanged: flag};
const isStateless = (version: McpVersion): boolean => since(version, '2026-07-28');

const commonCapabilities = (version: McpVersion): ValuesByName => {
	const named = mapOf(openObject(version));
	return {experimental: named, ...when(isStateless(version), {extensions: named})};
};

const taskCapabilities = (version: McpVersion, requests: Values): ValuesByName =>
	when(version === '2025-11-25', {
		tasks: objectOf({}, {list: json.object, cancel: json.object, requests}),
	});

export const clientCapabilities = (version: McpVersion): Values => {
	const open = openObject(version);
	const hasParts = since(version, '2025-11-25');
	const taskRequests = objectOf(
		{},
		{sampling: objectOf({}, {createMessage: open}), elicitation: objectOf({}, {create: open})},
	);
	return objectOf(
		{},
		{
			...commonCapabilities(version),
			roots: objectOf({}, when(!isStateless(version), listChanged)),
			sampling: objectOf({}, when(hasParts, {context: open, tools: open})),
			...when(since(version, '2025-06-18'), {
				elicitation: objectOf({}, when(hasParts, {form: open, url: open})),
			}),
			...taskCapabilities(version, taskRequests),
		},
	);
};

export const serverCapabilities = (version: McpVersion): Values => {
	const open = openObject(version);
	return objectOf(
		{},
		{
			...commonCapabilities(version),
			logging: open,
			...when(since(version, '2025-03-26'), {completions: open}),
			prompts: objectOf({}, listChanged),
			resources: objectOf({}, {...listChanged, subscribe: flag}),
			tools: objectOf({}, listChanged),
			...taskCapabilities(version, objectOf({}, {tools: objectOf({}, {call: json.object})})),
		},
	);
};

const taskMembers: ValuesByName = {
	taskId,
	status: fc.constantFrom('working', 'input_required', 'completed', 'failed', 'cancelled'),
	createdAt: dateTime,
	lastUpdatedAt: dateTime,
	ttl: fc.option(fc.nat()),
};

/** A task of 2025-11-25, with the common members of its message. */
export const task = (common: ValuesByName = {}): Values =>
	objectOf(taskMembers, {statusMessage: text, pollInterval: fc.nat(), ...common});

export const subscriptionFilter = (uri: fc.Arbitrary<string>): Values =>
	objectOf(
		{},
		{
			toolsListChanged: flag,
			promptsListChanged: flag,
			resourcesListChanged: flag,
			resourceSubscriptions: listOf(uri),
		},
	);
