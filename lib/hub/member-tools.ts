import {brief} from '../brief.js';
import type {Envelope} from '../envelope.js';
import {isObject, type JsonObject, listOf, objectOf, without, worded} from '../protocol/json.js';
import {ExactNumbers} from '../wire/exact-numbers.js';
import {marks} from '../wire/marks.js';
import type {MemberLink} from './member-link.js';

/** A tool, prompt or resource of a server, as it is listed. */
export type Listed = {
	readonly server: string;
	/** As the server knows it. */
	readonly name: string;
	/** All of it but its name, as JSON with its numbers as they were written. */
	readonly rest: string;
	readonly body: JsonObject;
};

/** The limits of one list, all its pages together: it is parsed on the main thread, after each notification that it changed. */
const MAX_PAGES = 1000;
export const MAX_LIST_BYTES = 4 * 2 ** 20;
export const MAX_LIST_ITEMS = 10_000;

export type ListOptions = {
	readonly server: string;
	readonly method: string;
	/** The member of the result that holds the list, and the one that names each item. */
	readonly member: string;
	readonly key: string;
	readonly signal?: AbortSignal | undefined;
};

/** Reads all pages of a list that a server has. Fails in words that go on behind the server's name. */
export async function readList(link: MemberLink, options: ListOptions): Promise<Listed[]> {
	const {method, signal} = options;
	const items: Listed[] = [];
	const cursors = new Set<unknown>();
	let [bytes, count] = [0, 0];
	for (let cursor: unknown; ; ) {
		const answer = await link.askEnvelope(method, cursor === undefined ? {} : {cursor}, {signal});
		bytes += answer.size;
		checkLimit(method, bytes, MAX_LIST_BYTES, 'bytes');
		const page = pageOf(answer, options);
		count += page.items.length;
		checkLimit(method, count, MAX_LIST_ITEMS, 'items');
		// One by one: a page may have more items than a call can have arguments.
		for (const item of listedOf(page, options)) items.push(item);
		cursor = page.nextCursor;
		if (cursor === undefined || cursor === null || cursor === '') return items;
		if (cursors.has(cursor)) throw new Error(`gave the same cursor of ${method} twice`);
		cursors.add(cursor);
		checkLimit(method, cursors.size + 1, MAX_PAGES, 'pages');
	}
}

function checkLimit(method: string, amount: number, limit: number, unit: string): void {
	if (amount > limit) throw new Error(`has too long a response to ${method}: the limit is ${limit} ${unit}`);
}

type Page = {
	/** With their numbers as `write` needs them. */
	readonly items: readonly unknown[];
	/** The same items, with their numbers as numbers. */
	readonly plain: readonly unknown[];
	readonly write: (value: unknown) => string;
	readonly nextCursor: unknown;
};

/** Parses a response. Only one with numbers that parsing would change is parsed twice. */
function pageOf(answer: Envelope, {method, member}: ListOptions): Page {
	const {result, error} = answer.body;
	if (error !== undefined) throw new Error(`refused ${method}: ${brief(worded(objectOf(error).message))}`);
	const {[member]: list, nextCursor} = objectOf(result);
	const plain = listOf(list);
	if ((answer.head.marks & marks.inexactNumber) === 0)
		return {items: plain, plain, write: JSON.stringify, nextCursor};
	const exact = new ExactNumbers();
	const items = listOf(objectOf(objectOf(exact.parse(answer.bytes.toString())).result)[member]);
	return {items, plain, write: value => exact.write(value), nextCursor};
}

/** The items of one page. Items without a name cannot be requested. */
const listedOf = ({items, plain, write}: Page, {server, key}: ListOptions): Listed[] =>
	items.flatMap((item, at) => {
		const body = objectOf(plain[at]);
		const name = body[key];
		if (!isObject(item) || typeof name !== 'string') return [];
		const rest = write(without(item, key, 'execution'));
		return [{server, name, rest, body: without(body, 'execution')}];
	});

/** An item of a list as JSON, under a name. */
export const listedAs = (key: string, name: string, {rest}: Listed): string =>
	`{"${key}":${JSON.stringify(name)}${rest === '{}' ? '' : ','}${rest.slice(1)}`;
