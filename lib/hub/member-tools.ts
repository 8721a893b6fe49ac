import type {Envelope} from '../envelope.js';
import {isObject, type JsonObject, listOf, objectOf, without, worded} from '../protocol/json.js';
import {ExactNumbers} from '../wire/exact-numbers.js';
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

/** What is read of one list: over that, it goes on for ever as far as anybody can tell. */
const MAX_PAGES = 1000;
const MAX_BYTES = 16 * 2 ** 20;

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
	let bytes = 0;
	for (let cursor: unknown; ; ) {
		const answer = await link.askEnvelope(method, cursor === undefined ? {} : {cursor}, {signal});
		const {result, error} = answer.body;
		if (error !== undefined) throw new Error(`refused ${method}: ${worded(objectOf(error).message)}`);
		items.push(...itemsOf(answer, options));
		bytes += answer.size;
		cursor = objectOf(result).nextCursor;
		if (cursor === undefined || cursor === null || cursor === '') return items;
		if (cursors.has(cursor)) throw new Error(`gave the same cursor of ${method} twice`);
		cursors.add(cursor);
		if (cursors.size >= MAX_PAGES || bytes > MAX_BYTES)
			throw new Error(`has too long an answer to ${method}`);
	}
}

/** The items of one page. What has no name cannot be asked for. */
function itemsOf({body: {result}, bytes}: Envelope, {server, member, key}: ListOptions): Listed[] {
	const exact = new ExactNumbers();
	const page = objectOf(objectOf(exact.parse(bytes.toString())).result);
	const plain = listOf(objectOf(result)[member]);
	return listOf(page[member]).flatMap((item, at) => {
		const body = objectOf(plain[at]);
		const name = body[key];
		if (!isObject(item) || typeof name !== 'string') return [];
		const rest = exact.write(without(item, key, 'execution'));
		return [{server, name, rest, body: without(body, 'execution')}];
	});
}

/** An item of a list as JSON, under a name. */
export const listedAs = (key: string, name: string, {rest}: Listed): string =>
	`{"${key}":${JSON.stringify(name)}${rest === '{}' ? '' : ','}${rest.slice(1)}`;
