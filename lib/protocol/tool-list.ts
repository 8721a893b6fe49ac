import {createHash} from 'node:crypto';
import {isObject, type JsonObject, objectOf, toText, without} from '../util/json.js';
import {ExactNumbers} from '../wire/exact-numbers.js';
import {jsonComplexity} from '../wire/json-complexity.js';

/** All tools of a server, as one page that can be sent again and again. */
export type ToolList = {
	/** The members of the result, as text without the braces around them, and without `ttlMs`. */
	readonly members: string;
	readonly bytes: number;
	readonly count: number;
	/** How long the server says that it holds good; undefined where it does not say. */
	readonly ttlMs: number | undefined;
	/** What each tool is like, by its name. */
	readonly hashes: ReadonlyMap<string, string>;
	/** The same for all lists with the same tools in them, in whatever order and however they are written. */
	readonly fingerprint: string;
};

/** Pages that are read of one list. A server that has more goes on for ever, as far as anybody can tell. */
const MAX_PAGES = 1000;
/** Tools of one list: each is hashed on the main thread, with its members sorted. */
export const MAX_TOOLS = 10_000;
/** Values in all pages of one list: parsing, sorting and writing each of them takes a third of a microsecond. */
const MAX_VALUES = 500_000;

/** Why there is no list: in words that go on behind the server's name. */
export class ToolListError extends Error {
	override readonly name = 'ToolListError';
	/** Whether there is one, only too large to be kept. */
	readonly isTooLarge: boolean;

	constructor(reason: string, isTooLarge = false) {
		super(reason);
		this.isTooLarge = isTooLarge;
	}
}

/** Makes one list of the pages that a server gives: of all of them, or none. */
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

	/** Takes in the answer to a request for a page. Returns the cursor of the next one; nothing when there is none. */
	add(response: string): string | undefined {
		this.#bytes += Buffer.byteLength(response);
		if (this.#bytes > this.#maxBytes)
			throw new ToolListError(`has a list of more than ${this.#maxBytes} bytes`, true);
		// Few bytes cannot have many values.
		if (this.#bytes > MAX_VALUES) this.#values += jsonComplexity(Buffer.from(response)).values;
		if (this.#values > MAX_VALUES)
			throw new ToolListError(`has a list of more than ${MAX_VALUES} values`, true);
		const {result, error} = objectOf(this.#exact.parse(response));
		if (error !== undefined) throw new ToolListError(`refused: ${toText(objectOf(error).message)}`);
		const {tools, nextCursor, ttlMs, resultType = 'complete'} = objectOf(result);
		if (!Array.isArray(tools) || resultType !== 'complete')
			throw new ToolListError('answered with something that is no list');
		if (this.#tools.length + tools.length > MAX_TOOLS)
			throw new ToolListError(`has a list of more than ${MAX_TOOLS} tools`, true);
		for (const tool of tools) this.#tools.push(tool);
		this.#first ??= without(objectOf(result), 'tools', 'nextCursor', 'ttlMs');
		if (typeof ttlMs === 'number' && ttlMs >= 0) this.#ttlMs = Math.min(ttlMs, this.#ttlMs ?? ttlMs);
		// Some write null, or an empty text, where there is no more.
		if (nextCursor === undefined || nextCursor === null || nextCursor === '') return;
		return this.#checkCursor(nextCursor);
	}

	#checkCursor(cursor: unknown): string {
		if (typeof cursor !== 'string') throw new ToolListError('gave a cursor that is no text');
		if (this.#cursors.has(cursor)) throw new ToolListError('gave the same cursor twice');
		if (this.#cursors.size >= MAX_PAGES - 1) throw new ToolListError(`has more than ${MAX_PAGES} pages`);
		this.#cursors.add(cursor);
		return cursor;
	}

	/** The whole, when every page is there. */
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

/** The value with the members of all objects in it in one order. */
function withSortedKeys(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(withSortedKeys);
	if (!isObject(value)) return value;
	const members = Object.entries(value).sort(([a], [b]) => compareText(a, b));
	return Object.fromEntries(members.map(([name, member]) => [name, withSortedKeys(member)]));
}

/** The result as text, with what is left of the time that it holds good. */
export const toolListResult = ({members}: ToolList, remainingMs: number | undefined): string =>
	remainingMs === undefined ? `{${members}}` : `{"ttlMs":${Math.max(0, Math.floor(remainingMs))},${members}}`;
