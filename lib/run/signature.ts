import {members, parameters} from './schema.js';
import type {PackTool} from './types.js';

const MAX_DEPTH = 3;
const MAX_RETURNED = 200;

/** A call as a program would write it: `wix.get(id: str, limit: int = 10) -> {name: str}`. */
export function signature(call: string, tool: PackTool): string {
	const list = parameters(tool.inputSchema).map(({name, schema, isRequired}) => {
		const {default: initial} = members(schema);
		const rest = isRequired ? '' : ` = ${initial === undefined ? '...' : literal(initial)}`;
		return `${name}: ${typeName(schema)}${rest}`;
	});
	return `${call}(${list.join(', ')})${returned(tool.outputSchema)}`;
}

function returned(outputSchema: unknown): string {
	if (outputSchema === undefined) return '';
	const name = typeName(outputSchema);
	return ` -> ${name.length <= MAX_RETURNED ? name : 'dict'}`;
}

const simple = new Map([
	['string', 'str'],
	['integer', 'int'],
	['number', 'float'],
	['boolean', 'bool'],
	['null', 'None'],
]);

/** The type of a value as Python would name it. */
export function typeName(schema: unknown, depth = 0): string {
	const {type, enum: options, const: only, anyOf, oneOf, items, properties} = members(schema);
	if (Array.isArray(options)) return options.map(literal).join(' | ');
	if (only !== undefined) return literal(only);
	const either = anyOf ?? oneOf;
	if (Array.isArray(either)) return union(either.map(option => typeName(option, depth)));
	if (Array.isArray(type)) return union(type.map(name => typeName({...members(schema), type: name}, depth)));
	if (type === 'array') return items === undefined ? 'list' : `list[${typeName(items, depth + 1)}]`;
	if (properties !== undefined && depth < MAX_DEPTH) return record(properties, depth);
	if (type === 'object' || properties !== undefined) return 'dict';
	return simple.get(String(type)) ?? 'any';
}

const union = (names: readonly string[]): string => [...new Set(names)].join(' | ');

function record(properties: unknown, depth: number): string {
	const entries = Object.entries(members(properties));
	if (entries.length === 0) return 'dict';
	return `{${entries.map(([name, schema]) => `${name}: ${typeName(schema, depth + 1)}`).join(', ')}}`;
}

function literal(value: unknown): string {
	if (value === null) return 'None';
	if (typeof value === 'boolean') return value ? 'True' : 'False';
	return JSON.stringify(value);
}
