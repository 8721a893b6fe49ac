import fc from 'fast-check';
import type {McpVersion} from '../mcp-version.js';
import {objectSchema, schemaDialect} from './schemas.js';
import {
	dateTime,
	listOf,
	mapOf,
	number,
	objectOf,
	since,
	text,
	type Values,
	type ValuesByName,
	webUri,
	when,
} from './values.js';

const described: ValuesByName = {title: text, description: text};
const choices = fc.uniqueArray(text, {minLength: 1, maxLength: 3});

const titledChoices = choices.map(values =>
	values.map((value, at) => ({const: value, title: `${at}: ${value}`})),
);

const enumWithNames = (more: ValuesByName): Values =>
	fc
		.tuple(choices, objectOf({type: fc.constant('string')}, {...described, ...more}))
		.map(([values, schema]) => ({...schema, enum: values, enumNames: values.map(value => `the ${value}`)}));

const textField = (more: ValuesByName): Values =>
	objectOf(
		{type: fc.constant('string')},
		{
			...described,
			...more,
			minLength: fc.nat({max: 5}),
			maxLength: fc.integer({min: 5, max: 500}),
			format: fc.constantFrom('email', 'uri', 'date', 'date-time'),
		},
	);

const numberField = (more: ValuesByName): Values =>
	objectOf(
		{type: fc.constantFrom('number', 'integer')},
		{...described, ...more, minimum: fc.constant(-10), maximum: fc.integer({min: 0, max: 100})},
	);

const booleanField = objectOf({type: fc.constant('boolean')}, {...described, default: fc.boolean()});

/** The kinds of choice that 2025-11-25 added. */
const newChoices = (): Values[] => {
	const multiple = {...described, minItems: fc.nat({max: 1}), maxItems: fc.integer({min: 1, max: 3})};
	const one = {...described, default: text};
	return [
		objectOf({type: fc.constant('string'), enum: choices}, one),
		objectOf({type: fc.constant('string'), oneOf: titledChoices}, one),
		objectOf(
			{type: fc.constant('array'), items: objectOf({type: fc.constant('string'), enum: choices})},
			{...multiple, default: listOf(text)},
		),
		objectOf(
			{type: fc.constant('array'), items: objectOf({anyOf: titledChoices})},
			{...multiple, default: listOf(text)},
		),
	];
};

const field = (version: McpVersion): Values => {
	const hasDefaults = since(version, '2025-11-25');
	return fc.oneof(
		textField(when(hasDefaults, {default: text})),
		numberField(when(hasDefaults, {default: number})),
		booleanField,
		enumWithNames(when(hasDefaults, {default: text})),
		...(hasDefaults ? newChoices() : [objectOf({type: fc.constant('string'), enum: choices}, described)]),
	);
};

/** The params of an elicitation, which exists since 2025-06-18. */
export const elicitParams = (version: McpVersion, common: ValuesByName): Values => {
	const form = objectOf(
		{message: text, requestedSchema: objectSchema(field(version), schemaDialect(version))},
		{...common, ...when(since(version, '2025-11-25'), {mode: fc.constant('form')})},
	);
	if (!since(version, '2025-11-25')) return form;
	const url = urlElicitation(version, common);
	return fc.oneof({arbitrary: form, weight: 3}, {arbitrary: url, weight: 1});
};

export const urlElicitation = (version: McpVersion, common: ValuesByName = {}): Values =>
	objectOf(
		{
			message: text,
			mode: fc.constant('url'),
			url: webUri,
			...when(version === '2025-11-25', {elicitationId: text}),
		},
		common,
	);

/** The user's response to an elicitation. The schemas have no fractions here. */
export const elicitResult = (version: McpVersion, common: ValuesByName): Values => {
	const scalar = fc.oneof(text, dateTime, fc.integer(), fc.boolean());
	const value = since(version, '2025-11-25') ? fc.oneof(scalar, listOf(text)) : scalar;
	return fc.oneof(
		objectOf({action: fc.constant('accept'), content: mapOf(value)}, common),
		objectOf({action: fc.constantFrom('decline', 'cancel')}, common),
	);
};
