import {BoundedMap} from '../bounded-map.js';
import type {Headers} from '../envelope.js';
import {headerText, textOfHeader} from './http-hop.js';
import {isObject, listOf, objectOf} from './json.js';

/*
 * 2026-07-28 lets a tool say, with `x-mcp-header` in its input schema, that an argument stands in a header, too, for those on
 * the way that only read headers. A client has to send that header, and it has to say the same as the message.
 */

/** An argument of a tool that stands in a header, too. */
export type Parameter = {
	/** The header, in lower case. */
	readonly header: string;
	/** Where the argument is. */
	readonly path: readonly string[];
	readonly isNumber: boolean;
};

/** A header that does not say what the message does. */
export type Disagreement = {readonly header: string; readonly given: unknown; readonly wanted: unknown};

const MARK = 'x-mcp-header';
const PREFIX = 'mcp-param-';
/** What the name of a header may be made of. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]{1,200}$/;
const types: readonly unknown[] = ['string', 'integer', 'number', 'boolean'];
/** How deep arguments are looked for, and how many tools are remembered; the oldest is forgotten for the next. */
const MAX_DEPTH = 16;
const MAX_TOOLS = 10_000;
const DECIMAL = /^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/** The arguments in a schema of a tool that are marked so, under properties alone: elsewhere the mark means nothing. */
export function parametersIn(schema: unknown, path: readonly string[] = []): Parameter[] {
	if (path.length >= MAX_DEPTH) return [];
	return Object.entries(objectOf(objectOf(schema).properties)).flatMap(([name, property]) => {
		const {[MARK]: mark, type} = objectOf(property);
		const at = [...path, name];
		const isMarked = typeof mark === 'string' && TOKEN.test(mark) && types.includes(type);
		if (!isMarked) return parametersIn(property, at);
		const header = `${PREFIX}${mark.toLowerCase()}`;
		return [{header, path: at, isNumber: type === 'integer' || type === 'number'}];
	});
}

/** Remembers which arguments of which tools stand in headers, from the lists that those who ask are shown. */
export class ToolParameters {
	readonly #byTool = new BoundedMap<string, readonly Parameter[]>(MAX_TOOLS);

	/** A list of tools, or a page of one. */
	learn(tools: unknown): void {
		for (const tool of listOf(tools).map(objectOf)) {
			if (typeof tool.name !== 'string') continue;
			const found = parametersIn(tool.inputSchema);
			if (found.length > 0) this.#byTool.set(tool.name, found);
			else this.#byTool.delete(tool.name);
		}
	}

	/** Whether calls have to be looked into at all: there are hardly any such tools. */
	get hasSome(): boolean {
		return this.#byTool.size > 0;
	}

	/** The headers that go with a call. */
	headersOf(params: unknown): Headers {
		const headers: {[name: string]: string} = {};
		for (const [{header}, value] of this.#given(params)) headers[header] = headerText(String(value));
		return headers;
	}

	/** The first header that says something else than the call does, or is missing. */
	disagreement(
		params: unknown,
		headers: {readonly [name: string]: string | string[] | undefined},
	): Disagreement | undefined {
		for (const [{header, isNumber}, wanted] of this.#given(params)) {
			const given = headers[header];
			const text = typeof given === 'string' ? textOfHeader(given) : undefined;
			const isSame = text === String(wanted) || (isNumber && isEqual(text, wanted));
			if (!isSame) return {header: `Mcp-Param-${header.slice(PREFIX.length)}`, given, wanted};
		}
		return;
	}

	/** The arguments of a call that stand in headers, with what they are; those that are not there stand in none. */
	*#given(params: unknown): Generator<readonly [Parameter, unknown]> {
		const {name, arguments: given} = objectOf(params);
		for (const parameter of this.#byTool.get(String(name)) ?? []) {
			const value = parameter.path.reduce<unknown>(member, given);
			if (['string', 'number', 'boolean'].includes(typeof value)) yield [parameter, value];
		}
	}
}

const member = (value: unknown, key: string): unknown =>
	isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** Whether a text is the same number, however it is written. */
const isEqual = (text: string | undefined, wanted: unknown): boolean =>
	typeof wanted === 'number' && text !== undefined && DECIMAL.test(text) && Number(text) === wanted;
