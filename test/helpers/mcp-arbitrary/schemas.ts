import fc from 'fast-check';
import type {McpVersion} from '../mcp-version.js';
import {type Members, name, objectOf, since, type Values, type ValuesByName, when} from './values.js';

const dialect = fc.constant('https://json-schema.org/draft/2020-12/schema');

/** An object schema with these properties, some of which are required. */
export function objectSchema(property: Values, more: ValuesByName = {}): Values {
	const fields = fc.uniqueArray(fc.tuple(name, property, fc.boolean()), {
		maxLength: 4,
		selector: ([key]) => key,
	});
	return fc.tuple(fields, objectOf({type: fc.constant('object')}, more)).map(([all, schema]): Members => {
		const required = all.flatMap(([key, , isRequired]) => (isRequired ? [key] : []));
		const properties = Object.fromEntries(all.map(([key, value]) => [key, value]));
		return {...schema, properties, ...(required.length > 0 ? {required} : {})};
	});
}

export const schemaDialect = (version: McpVersion): ValuesByName =>
	when(since(version, '2025-11-25'), {$schema: dialect});
