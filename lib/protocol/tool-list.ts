import {createHash} from 'node:crypto';
import {isObject, type JsonObject, objectOf, toText, without} from '../util/json.js';
import {ExactNumbers} from '../wire/exact-numbers.js';
import {jsonComplexity} from '../wire/json-complexity.js';

export type ToolList = {
	/** The members of the result as JSON, without the surrounding braces and without `ttlMs`. */
	readonly members: string;
	readonly bytes: number;
	readonly count: number;
	readonly ttlMs: number | undefined;
	/** The hash of each tool, by name. */
	readonly hashes: ReadonlyMap<string, string>;
	/** Equal for lists with equal tools, whatever their order and formatting. */
	readonly fingerprint: string;
};

/** The maximum number of pages of one list. An upstream with more may never end it. */
const MAX_PAGES = 1000;
/** The maximum number of tools of one list. Each is hashed on the main thread, with sorted members. */
export const MAX_TOOLS = 10_000;
/** Values in all pages of a list. To parse, sort and serialize one takes a third of a microsecond. */
const MAX_VALUES = 500_000;

/** The reason for a missing list. The message continues a sentence that starts with the upstream's name. */
export class ToolListError extends Error {
	override readonly name = 'ToolListError';
	/** Whether the list exists, but is too large to cache. */
	readonly isTooLarge: boolean;

	constructor(reason: string, isTooLarge = false) {
		super(reason);
		this.isTooLarge = isTooLarge;
	}
}

/** Combines the pages of an upstream into one list. A list with an invalid page is rejected as a whole. */
export class ToolPages {
	readonly #maxBytes: number;
	readonly #exact = new ExactNumbers();
	readonly #tools: unknown[] = [];
	readonly #cursors = new Set<unknown>();
	#first: JsonObject | undefined;
	#ttlMs: number | undefined;
	#bytes = 0;
	#values = 0;

	constructor(maxBytes: number) {
		this.#maxBytes = maxBytes;
	}

	/**
	 * Adds the response to a request for a page. Returns the cursor of the next page; undefined after the
	 * last.
	 */
	add(response: string): string | undefined {
		this.#bytes += Buffer.byteLength(response);
		if (this.#bytes > this.#maxBytes)
			throw new ToolListError(`has a list of more than ${this.#maxBytes} bytes`, true);
		// A value takes at least one byte.
		if (this.#bytes > MAX_VALUES) this.#values += jsonComplexity(Buffer.from(response)).values;
		if (this.#values > MAX_VALUES)
			throw new ToolListError(`has a list of more than ${MAX_VALUES} values`, true);
		const {result, error} = objectOf(this.#exact.parse(response));
		if (error !== undefined)
			throw new ToolListError(`rejected tools/list: ${toText(objectOf(error).message)}`);
		const {tools, nextCursor, ttlMs, resultType = 'complete'} = objectOf(result);
		if (!Array.isArray(tools) || resultType !== 'complete')
			throw new ToolListError('returned a result that is not a list of tools');
		if (this.#tools.length + tools.length > MAX_TOOLS)
			throw new ToolListError(`has a list of more than ${MAX_TOOLS} tools`, true);
		for (const tool of tools) this.#tools.push(tool);
		this.#first ??= without(objectOf(result), 'tools', 'nextCursor', 'ttlMs');
		if (typeof ttlMs === 'number' && ttlMs >= 0) this.#ttlMs = Math.min(ttlMs, this.#ttlMs ?? ttlMs);
		// Some servers send null or an empty string after the last page.
		if (nextCursor === undefined || nextCursor === null || nextCursor === '') return;
		return this.#checkCursor(nextCursor);
	}

	#checkCursor(cursor: unknown): string {
		if (typeof cursor !== 'string') throw new ToolListError('returned a cursor that is not a string');
		if (this.#cursors.has(cursor)) throw new ToolListError('returned the same cursor twice');
		if (this.#cursors.size >= MAX_PAGES - 1) throw new ToolListError(`has more than ${MAX_PAGES} pages`);
		this.#cursors.add(cursor);
		return cursor;
	}

	toList(): ToolList {
		const members = this.#exact.stringify({...this.#first, tools: this.#tools}).slice(1, -1);
		const hashes = this.#tools.map(tool => [nameOf(tool), this.#hash(tool)] as const);
		const all = hashes.map(pair => JSON.stringify(pair)).sort(compareText);
		return {
			members,
			bytes: Buffer.byteLength(members),
			count: this.#tools.length,
			ttlMs: this.#ttlMs,
			hashes: new Map(hashes),
			fingerprint: sha256(all.join()),
		};
	}

	#hash(tool: unknown): string {
		return sha256(this.#exact.stringify(withSortedKeys(tool)));
	}
}

const nameOf = (tool: unknown): string => toText(objectOf(tool).name);

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

function withSortedKeys(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(withSortedKeys);
	if (!isObject(value)) return value;
	const members = Object.entries(value).sort(([a], [b]) => compareText(a, b));
	return Object.fromEntries(members.map(([name, member]) => [name, withSortedKeys(member)]));
}

export const toolListResult = ({members}: ToolList, remainingMs: number | undefined): string =>
	remainingMs === undefined ? `{${members}}` : `{"ttlMs":${Math.max(0, Math.floor(remainingMs))},${members}}`;
