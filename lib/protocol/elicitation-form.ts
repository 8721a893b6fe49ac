import {isObject, type JsonObject, listOf, objectOf, worded} from './json.js';

/** A form of 2025-11-25 as earlier clients can show it, and the way back for what they answer. */
export type OlderForm = {
	readonly schema: JsonObject;
	/** Absent where answers need no change. */
	readonly answer?: (content: JsonObject) => JsonObject;
	/** Whether limits on the number of choices could not be shown. */
	readonly hasLostLimits: boolean;
};

/** A choice of several, as one box to tick for each option. */
type Boxes = {readonly name: string; readonly options: readonly string[]};

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
		answer: content => ticked(content, choices),
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

function addBoxes(properties: Record<string, unknown>, name: string, field: JsonObject): Boxes {
	const items = objectOf(field.items);
	const plain = listOf(items.enum).map(value => ({value: worded(value), title: worded(value)}));
	const options = Array.isArray(items.enum) ? plain : titled(items.anyOf ?? items.oneOf);
	const heading = field.title ?? name;
	const chosen = listOf(field.default);
	for (const {value, title} of options)
		properties[box(name, value)] = {
			type: 'boolean',
			title: `${worded(heading)}: ${title}`,
			...(field.description === undefined ? {} : {description: field.description}),
			default: chosen.includes(value),
		};
	return {name, options: options.map(({value}) => value)};
}

const box = (name: string, value: string): string => `${name}[${value}]`;

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
