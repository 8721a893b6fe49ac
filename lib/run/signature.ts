import {members, parameters} from './schema.js';
import type {PackTool} from './types.js';

const MAX_DEPTH = 3;
const MAX_RETURNED = 200;
/** Schemas of servers may name one part of them in many places, which makes their number grow without limit. */
const MAX_PARTS = 500;
/** JSON has seven types. */
const MAX_TYPES = 7;

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
export const typeName = (schema: unknown): string => new TypeNames().of(schema, 0);

class TypeNames {
	#left = MAX_PARTS;

	of(schema: unknown, depth: number): string {
		if (this.#left-- <= 0) return 'any';
		const {type, enum: options, const: only, anyOf, oneOf, items, properties} = members(schema);
		if (Array.isArray(options)) return options.map(literal).join(' | ');
		if (only !== undefined) return literal(only);
		const either = anyOf ?? oneOf;
		if (Array.isArray(either)) return this.#union(either, depth);
		if (Array.isArray(type)) {
			const types = [...new Set(type)].slice(0, MAX_TYPES);
			return this.#union(
				types.map(name => ({...members(schema), type: name})),
				depth,
			);
		}
		if (type === 'array') return items === undefined ? 'list' : `list[${this.of(items, depth + 1)}]`;
		if (properties !== undefined && depth < MAX_DEPTH) return this.#record(properties, depth);
		if (type === 'object' || properties !== undefined) return 'dict';
		return simple.get(String(type)) ?? 'any';
	}

	#union(schemas: readonly unknown[], depth: number): string {
		if (schemas.length > this.#left) return 'any';
		return [...new Set(schemas.map(schema => this.of(schema, depth)))].join(' | ');
	}

	#record(properties: unknown, depth: number): string {
		const entries = Object.entries(members(properties));
		if (entries.length === 0 || entries.length > this.#left) return 'dict';
		return `{${entries.map(([name, schema]) => `${name}: ${this.of(schema, depth + 1)}`).join(', ')}}`;
	}
}

function literal(value: unknown): string {
	if (value === null) return 'None';
	if (typeof value === 'boolean') return value ? 'True' : 'False';
	return JSON.stringify(value);
}
