import {createHash} from 'node:crypto';
import {ExactNumbers} from '../wire/exact-numbers.js';
import {jsonWeight} from '../wire/json-weight.js';
import {isObject, type JsonObject, objectOf, without, worded} from './json.js';

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
export class NoToolList extends Error {
	override readonly name = 'NoToolList';
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
	add(answer: string): string | undefined {
		this.#bytes += Buffer.byteLength(answer);
		if (this.#bytes > this.#maxBytes)
			throw new NoToolList(`has a list of more than ${this.#maxBytes} bytes`, true);
		// Few bytes cannot have many values.
		if (this.#bytes > MAX_VALUES) this.#values += jsonWeight(Buffer.from(answer)).values;
		if (this.#values > MAX_VALUES) throw new NoToolList(`has a list of more than ${MAX_VALUES} values`, true);
		const {result, error} = objectOf(this.#exact.parse(answer));
		if (error !== undefined) throw new NoToolList(`refused: ${worded(objectOf(error).message)}`);
		const {tools, nextCursor, ttlMs, resultType = 'complete'} = objectOf(result);
		if (!Array.isArray(tools) || resultType !== 'complete')
			throw new NoToolList('answered with something that is no list');
		if (this.#tools.length + tools.length > MAX_TOOLS)
			throw new NoToolList(`has a list of more than ${MAX_TOOLS} tools`, true);
		for (const tool of tools) this.#tools.push(tool);
		this.#first ??= without(objectOf(result), 'tools', 'nextCursor', 'ttlMs');
		if (typeof ttlMs === 'number' && ttlMs >= 0) this.#ttlMs = Math.min(ttlMs, this.#ttlMs ?? ttlMs);
		// Some write null, or an empty text, where there is no more.
		if (nextCursor === undefined || nextCursor === null || nextCursor === '') return;
		return this.#next(nextCursor);
	}

	#next(cursor: unknown): string {
		if (typeof cursor !== 'string') throw new NoToolList('gave a cursor that is no text');
		if (this.#cursors.has(cursor)) throw new NoToolList('gave the same cursor twice');
		if (this.#cursors.size >= MAX_PAGES - 1) throw new NoToolList(`has more than ${MAX_PAGES} pages`);
		this.#cursors.add(cursor);
		return cursor;
	}

	/** The whole, when every page is there. */
	list(): ToolList {
		const members = this.#exact.write({...this.#first, tools: this.#tools}).slice(1, -1);
		const hashes = this.#tools.map(tool => [nameOf(tool), this.#hash(tool)] as const);
		const all = hashes.map(pair => JSON.stringify(pair)).sort(byText);
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
		return sha256(this.#exact.write(sorted(tool)));
	}
}

const nameOf = (tool: unknown): string => worded(objectOf(tool).name);

const byText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The value with the members of all objects in it in one order. */
function sorted(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(sorted);
	if (!isObject(value)) return value;
	const members = Object.entries(value).sort(([a], [b]) => byText(a, b));
	return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}

/** The result as text, with what is left of the time that it holds good. */
export const resultText = ({members}: ToolList, leftMs: number | undefined): string =>
	leftMs === undefined ? `{${members}}` : `{"ttlMs":${Math.max(0, Math.floor(leftMs))},${members}}`;
