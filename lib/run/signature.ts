import {asObject, inputParameters} from './input-schema.js';
import type {PackTool} from './types.js';

const MAX_DEPTH = 3;
const MAX_RETURN_LENGTH = 200;
/** Bounds the output: shared parts of a schema can multiply exponentially. */
const MAX_PARTS = 500;
/** The number of JSON types. */
const MAX_TYPES = 7;

/** Formats the signature of a tool: `wix.get(id: str, limit: int = 10) -> {name: str}`. */
export function formatSignature(call: string, tool: PackTool): string {
	const list = inputParameters(tool.inputSchema).map(({name, schema, isRequired}) => {
		const {default: defaultValue} = asObject(schema);
		const rest = isRequired ? '' : ` = ${defaultValue === undefined ? '...' : formatLiteral(defaultValue)}`;
		return `${name}: ${pythonTypeName(schema)}${rest}`;
	});
	return `${call}(${list.join(', ')})${formatReturnType(tool.outputSchema)}`;
}

function formatReturnType(outputSchema: unknown): string {
	if (outputSchema === undefined) return '';
	const name = pythonTypeName(outputSchema);
	return ` -> ${name.length <= MAX_RETURN_LENGTH ? name : 'dict'}`;
}

const pythonTypes = new Map([
	['string', 'str'],
	['integer', 'int'],
	['number', 'float'],
	['boolean', 'bool'],
	['null', 'None'],
]);

/** The Python type for a JSON Schema. */
export const pythonTypeName = (schema: unknown): string => new TypeNames().nameOf(schema, 0);

class TypeNames {
	#remainingParts = MAX_PARTS;

	nameOf(schema: unknown, depth: number): string {
		if (this.#remainingParts-- <= 0) return 'any';
		const {type, enum: options, const: constant, anyOf, oneOf, items, properties} = asObject(schema);
		if (Array.isArray(options)) return options.map(formatLiteral).join(' | ');
		if (constant !== undefined) return formatLiteral(constant);
		const alternatives = anyOf ?? oneOf;
		if (Array.isArray(alternatives)) return this.#union(alternatives, depth);
		if (Array.isArray(type)) {
			const types = [...new Set(type)].slice(0, MAX_TYPES);
			return this.#union(
				types.map(name => ({...asObject(schema), type: name})),
				depth,
			);
		}
		if (type === 'array') return items === undefined ? 'list' : `list[${this.nameOf(items, depth + 1)}]`;
		if (properties !== undefined && depth < MAX_DEPTH) return this.#record(properties, depth);
		if (type === 'object' || properties !== undefined) return 'dict';
		return pythonTypes.get(String(type)) ?? 'any';
	}

	#union(schemas: readonly unknown[], depth: number): string {
		if (schemas.length > this.#remainingParts) return 'any';
		return [...new Set(schemas.map(schema => this.nameOf(schema, depth)))].join(' | ');
	}

	#record(properties: unknown, depth: number): string {
		const entries = Object.entries(asObject(properties));
		if (entries.length === 0 || entries.length > this.#remainingParts) return 'dict';
		return `{${entries.map(([name, schema]) => `${name}: ${this.nameOf(schema, depth + 1)}`).join(', ')}}`;
	}
}

function formatLiteral(value: unknown): string {
	if (value === null) return 'None';
	if (typeof value === 'boolean') return value ? 'True' : 'False';
	return JSON.stringify(value);
}
