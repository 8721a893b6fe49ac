import type {Headers} from '../core/envelope.js';
import {BoundedMap} from '../util/bounded-map.js';
import {isObject, listOf, objectOf} from '../util/json.js';
import {decodeHeader, encodeHeader} from './http-headers.js';

/*
 * Since 2026-07-28, `x-mcp-header` in a tool's input schema marks an argument that a header repeats, for
 * intermediaries that read only headers. The client has to send that header, and its value has to match the
 * message.
 */

/** An argument of a tool that a header repeats. */
type HeaderParameter = {
	/** The header, in lower case. */
	readonly header: string;
	readonly path: readonly string[];
	readonly isNumber: boolean;
};

type HeaderMismatch = {readonly header: string; readonly actual: unknown; readonly expected: unknown};

const SCHEMA_KEY = 'x-mcp-header';
const PREFIX = 'mcp-param-';
const TOKEN = /^[\w!#$%&'*+.^`|~-]{1,200}$/;
const types: readonly unknown[] = ['string', 'integer', 'number', 'boolean'];
/** The limits for the depth of arguments and the number of tools. The oldest tool is evicted. */
const MAX_DEPTH = 16;
const MAX_TOOLS = 10_000;
const DECIMAL = /^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/** The marked arguments in an input schema. Marks count only below `properties`. */
export function headerParametersIn(schema: unknown, path: readonly string[] = []): HeaderParameter[] {
	if (path.length >= MAX_DEPTH) return [];
	return Object.entries(objectOf(objectOf(schema).properties)).flatMap(([name, property]) => {
		const {[SCHEMA_KEY]: mark, type} = objectOf(property);
		const at = [...path, name];
		const isMarked = typeof mark === 'string' && TOKEN.test(mark) && types.includes(type);
		if (!isMarked) return headerParametersIn(property, at);
		const header = `${PREFIX}${mark.toLowerCase()}`;
		return [{header, path: at, isNumber: type === 'integer' || type === 'number'}];
	});
}

/** The header parameters of tools, collected from the tool lists that clients receive. */
export class ToolHeaderParameters {
	readonly #byTool = new BoundedMap<string, readonly HeaderParameter[]>(MAX_TOOLS);

	update(tools: unknown): void {
		for (const tool of listOf(tools).map(objectOf)) {
			if (typeof tool.name !== 'string') continue;
			const found = headerParametersIn(tool.inputSchema);
			if (found.length > 0) this.#byTool.set(tool.name, found);
			else this.#byTool.delete(tool.name);
		}
	}

	/** Whether calls have to be checked. Tools with such parameters are rare. */
	get hasAny(): boolean {
		return this.#byTool.size > 0;
	}

	headersOf(params: unknown): Headers {
		const headers: {[name: string]: string} = {};
		for (const [{header}, value] of this.#headerArguments(params))
			headers[header] = encodeHeader(String(value));
		return headers;
	}

	/** The first header that is missing or differs from the call. */
	mismatch(
		params: unknown,
		headers: {readonly [name: string]: string | string[] | undefined},
	): HeaderMismatch | undefined {
		for (const [{header, isNumber}, expected] of this.#headerArguments(params)) {
			const actual = headers[header];
			const text = typeof actual === 'string' ? decodeHeader(actual) : undefined;
			const isSame = text === String(expected) || (isNumber && isEqual(text, expected));
			if (!isSame) return {header: `Mcp-Param-${header.slice(PREFIX.length)}`, actual, expected};
		}
		return;
	}

	/** The arguments of a call that headers repeat, with their values. Absent arguments have no header. */
	*#headerArguments(params: unknown): Generator<readonly [HeaderParameter, unknown]> {
		const {name, arguments: args} = objectOf(params);
		for (const parameter of this.#byTool.get(String(name)) ?? []) {
			const value = parameter.path.reduce<unknown>(member, args);
			if (['string', 'number', 'boolean'].includes(typeof value)) yield [parameter, value];
		}
	}
}

const member = (value: unknown, key: string): unknown =>
	isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** Whether a text is another notation of the same number. */
const isEqual = (text: string | undefined, expected: unknown): boolean =>
	typeof expected === 'number' && text !== undefined && DECIMAL.test(text) && Number(text) === expected;
