import type {Reading} from './form-answers.js';
import {isObject, type JsonObject, listOf, objectOf, worded} from './json.js';

/** Boxes of one form: more than a person ticks. */
const MAX_BOXES = 1000;
/** Characters of the boxes of one form. Each box repeats the name, title and description of its field. */
const MAX_BOXES_LENGTH = 2 ** 20;

/** A form of 2025-11-25 as earlier clients can show it, and the way back for what they answer. */
export type OlderForm = {
	readonly schema: JsonObject;
	/** Absent where answers need no change. */
	readonly answer?: Reading;
	/** Whether limits on the number of choices could not be shown. */
	readonly hasLostLimits: boolean;
};

/** A choice of several, as one box to tick for each option. */
type Boxes = {readonly name: string; readonly options: readonly string[]};

/** How many characters the boxes of a form take; undefined where they are too many, or too long, to be shown. */
export function boxesLength(schema: JsonObject): number | undefined {
	let count = 0;
	let length = 0;
	for (const [name, field] of Object.entries(objectOf(schema.properties))) {
		if (!isObject(field) || field.type !== 'array') continue;
		const options = optionsOf(field);
		const repeated =
			name.length + worded(field.title ?? name).length + worded(field.description ?? '').length;
		count += Math.max(1, options.length);
		length += repeated * Math.max(1, options.length);
		for (const {value, title} of options) length += value.length + title.length;
		if (count > MAX_BOXES || length > MAX_BOXES_LENGTH) return;
	}
	return length;
}

export function olderForm(schema: JsonObject): OlderForm {
	// Without a prototype, for a field may have any name.
	const properties: Record<string, unknown> = Object.create(null);
	const choices: Boxes[] = [];
	for (const [name, field] of Object.entries(objectOf(schema.properties)))
		if (!isObject(field)) properties[name] = field;
		else if (field.type === 'array') choices.push(addBoxes(properties, name, field));
		else properties[name] = Array.isArray(field.oneOf) ? namedOptions(field) : field;
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
		answer: reading(choices),
		hasLostLimits: true,
	};
}

type Option = {readonly value: string; readonly title: string};

const titled = (list: unknown): Option[] =>
	listOf(list)
		.map(objectOf)
		.map(({const: value, title}) => ({value: worded(value), title: worded(title ?? value)}));

/** Options with names, as the versions before write them. */
function namedOptions(field: JsonObject): JsonObject {
	const {oneOf, ...rest} = field;
	const options = titled(oneOf);
	return {...rest, enum: options.map(({value}) => value), enumNames: options.map(({title}) => title)};
}

/** What several can be chosen of. */
function optionsOf(field: JsonObject): Option[] {
	const items = objectOf(field.items);
	if (!Array.isArray(items.enum)) return titled(items.anyOf ?? items.oneOf);
	return items.enum.map(value => ({value: worded(value), title: worded(value)}));
}

function addBoxes(properties: Record<string, unknown>, name: string, field: JsonObject): Boxes {
	const options = optionsOf(field);
	const heading = field.title ?? name;
	const chosen = new Set(listOf(field.default));
	for (const {value, title} of options)
		properties[box(name, value)] = {
			type: 'boolean',
			title: `${worded(heading)}: ${title}`,
			...(field.description === undefined ? {} : {description: field.description}),
			default: chosen.has(value),
		};
	return {name, options: options.map(({value}) => value)};
}

const box = (name: string, value: string): string => `${name}[${value}]`;

/** Not within olderForm, whose whole form it would keep in memory. */
const reading =
	(choices: readonly Boxes[]): Reading =>
	content =>
		ticked(content, choices);

/** What was ticked, as the lists that the server asked for. */
function ticked(content: JsonObject, choices: readonly Boxes[]): JsonObject {
	const boxes = new Set(choices.flatMap(({name, options}) => options.map(value => box(name, value))));
	const others = Object.entries(content).filter(([name]) => !boxes.has(name));
	const lists = choices.map(({name, options}) => [
		name,
		options.filter(value => content[box(name, value)] === true),
	]);
	return Object.fromEntries([...others, ...lists]);
}
