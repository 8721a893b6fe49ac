import type {Headers} from '../core/envelope.js';
import {BoundedMap} from '../util/bounded-map.js';
import {isObject, listOf, objectOf} from '../util/json.js';
import {decodeHeader, encodeHeader} from './http-headers.js';

/*
 * 2026-07-28 lets a tool say, with `x-mcp-header` in its input schema, that an argument stands in a header, too, for those on
 * the way that only read headers. A client has to send that header, and it has to say the same as the message.
 */

/** An argument of a tool that stands in a header, too. */
type HeaderParameter = {
	/** The header, in lower case. */
	readonly header: string;
	/** Where the argument is. */
	readonly path: readonly string[];
	readonly isNumber: boolean;
};

/** A header that does not say what the message does. */
type HeaderMismatch = {readonly header: string; readonly actual: unknown; readonly expected: unknown};

const SCHEMA_KEY = 'x-mcp-header';
const PREFIX = 'mcp-param-';
/** What the name of a header may be made of. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]{1,200}$/;
const types: readonly unknown[] = ['string', 'integer', 'number', 'boolean'];
/** How deep arguments are looked for, and how many tools are remembered; the oldest is forgotten for the next. */
const MAX_DEPTH = 16;
const MAX_TOOLS = 10_000;
const DECIMAL = /^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/** The arguments in a schema of a tool that are marked so, under properties alone: elsewhere the mark means nothing. */
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

/** Remembers which arguments of which tools stand in headers, from the lists that those who ask are shown. */
export class ToolHeaderParameters {
	readonly #byTool = new BoundedMap<string, readonly HeaderParameter[]>(MAX_TOOLS);

	/** A list of tools, or a page of one. */
	update(tools: unknown): void {
		for (const tool of listOf(tools).map(objectOf)) {
			if (typeof tool.name !== 'string') continue;
			const found = headerParametersIn(tool.inputSchema);
			if (found.length > 0) this.#byTool.set(tool.name, found);
			else this.#byTool.delete(tool.name);
		}
	}

	/** Whether calls have to be looked into at all: there are hardly any such tools. */
	get hasAny(): boolean {
		return this.#byTool.size > 0;
	}

	/** The headers that go with a call. */
	headersOf(params: unknown): Headers {
		const headers: {[name: string]: string} = {};
		for (const [{header}, value] of this.#headerArguments(params))
			headers[header] = encodeHeader(String(value));
		return headers;
	}

	/** The first header that says something else than the call does, or is missing. */
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

	/** The arguments of a call that stand in headers, with what they are; those that are not there stand in none. */
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

/** Whether a text is the same number, however it is written. */
const isEqual = (text: string | undefined, expected: unknown): boolean =>
	typeof expected === 'number' && text !== undefined && DECIMAL.test(text) && Number(text) === expected;
