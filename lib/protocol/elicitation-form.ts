import {isObject, type JsonObject, listOf, objectOf, toText} from '../util/json.js';
import type {FormReader} from './form-responses.js';

const MAX_CHECKBOXES = 1000;
/** In characters. Each checkbox repeats the name, title and description of its field. */
const MAX_CHECKBOX_CHARACTERS = 2 ** 20;

/** A form of 2025-11-25 as converted for earlier clients, and the converter for their responses. */
type DowngradedForm = {
	readonly schema: JsonObject;
	/** Absent if responses need no conversion. */
	readonly readResponse?: FormReader;
	/** Whether limits on the number of choices were dropped. */
	readonly hasLostLimits: boolean;
};

/** A multi-select field, shown as one checkbox per option. */
type Checkboxes = {readonly name: string; readonly options: readonly string[]};

/** The number of characters in the checkboxes of a form; undefined if the form exceeds a limit. */
export function checkboxCharacters(schema: JsonObject): number | undefined {
	let count = 0;
	let length = 0;
	for (const [name, field] of Object.entries(objectOf(schema.properties))) {
		if (!isObject(field) || field.type !== 'array') continue;
		const options = optionsOf(field);
		const repeated =
			name.length + toText(field.title ?? name).length + toText(field.description ?? '').length;
		count += Math.max(1, options.length);
		length += repeated * Math.max(1, options.length);
		for (const {value, title} of options) length += value.length + title.length;
		if (count > MAX_CHECKBOXES || length > MAX_CHECKBOX_CHARACTERS) return;
	}
	return length;
}

export function downgradeForm(schema: JsonObject): DowngradedForm {
	// The object has no prototype, because a field may have any name.
	const properties: Record<string, unknown> = Object.create(null);
	const choices: Checkboxes[] = [];
	for (const [name, field] of Object.entries(objectOf(schema.properties)))
		if (!isObject(field)) properties[name] = field;
		else if (field.type === 'array') choices.push(addCheckboxes(properties, name, field));
		else properties[name] = Array.isArray(field.oneOf) ? withEnumNames(field) : field;
	const unchanged = Object.entries(properties).every(
		([name, field]) => objectOf(schema.properties)[name] === field,
	);
	if (choices.length === 0)
		return {schema: unchanged ? schema : {...schema, properties}, hasLostLimits: false};
	const shown: JsonObject = {...schema, properties};
	const isShown = (name: unknown): boolean => typeof name === 'string' && name in properties;
	const required = schema.required === undefined ? {} : {required: listOf(schema.required).filter(isShown)};
	return {
		schema: {...shown, ...required},
		readResponse: responseReader(choices),
		hasLostLimits: true,
	};
}

type FormOption = {readonly value: string; readonly title: string};

const toOptions = (list: unknown): FormOption[] =>
	listOf(list)
		.map(objectOf)
		.map(({const: value, title}) => ({value: toText(value), title: toText(title ?? value)}));

/** Converts titled options to `enum` and `enumNames`, the format of earlier versions. */
function withEnumNames(field: JsonObject): JsonObject {
	const {oneOf, ...rest} = field;
	const options = toOptions(oneOf);
	return {...rest, enum: options.map(({value}) => value), enumNames: options.map(({title}) => title)};
}

function optionsOf(field: JsonObject): FormOption[] {
	const items = objectOf(field.items);
	if (!Array.isArray(items.enum)) return toOptions(items.anyOf ?? items.oneOf);
	return items.enum.map(value => ({value: toText(value), title: toText(value)}));
}

function addCheckboxes(properties: Record<string, unknown>, name: string, field: JsonObject): Checkboxes {
	const options = optionsOf(field);
	const heading = field.title ?? name;
	const chosen = new Set(listOf(field.default));
	for (const {value, title} of options)
		properties[checkboxName(name, value)] = {
			type: 'boolean',
			title: `${toText(heading)}: ${title}`,
			...(field.description === undefined ? {} : {description: field.description}),
			default: chosen.has(value),
		};
	return {name, options: options.map(({value}) => value)};
}

const checkboxName = (name: string, value: string): string => `${name}[${value}]`;

/** Defined outside of `downgradeForm`, where the closure would keep the whole form in memory. */
const responseReader =
	(choices: readonly Checkboxes[]): FormReader =>
	content =>
		choicesOf(content, choices);

function choicesOf(content: JsonObject, choices: readonly Checkboxes[]): JsonObject {
	const checkboxes = new Set(
		choices.flatMap(({name, options}) => options.map(value => checkboxName(name, value))),
	);
	const others = Object.entries(content).filter(([name]) => !checkboxes.has(name));
	const lists = choices.map(({name, options}) => [
		name,
		options.filter(value => content[checkboxName(name, value)] === true),
	]);
	return Object.fromEntries([...others, ...lists]);
}
