import {brief} from '../brief.js';
import type {Envelope} from '../envelope.js';
import type {Log} from '../log.js';
import {isObject, type JsonObject, listOf, objectOf, without, worded} from '../protocol/json.js';
import {warnOnce} from '../warn-once.js';
import {ExactNumbers} from '../wire/exact-numbers.js';
import {marks} from '../wire/marks.js';
import type {MemberLink} from './member-link.js';
import {toolsSent, type WrappedOutput, wrappedOutput} from './own-output.js';

/** A tool, prompt or resource of a server, as it is listed. */
export type Listed = {
	readonly server: string;
	/** As the server knows it. */
	readonly name: string;
	/** All of it but its name, as JSON with its numbers as they were written. */
	readonly rest: string;
	readonly body: JsonObject;
	/** The output of a tool, where its results have it wrapped. */
	readonly output?: WrappedOutput | undefined;
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

/** How long a server has to list tools that it did not declare. Most reject the request at once. */
const UNDECLARED_MS = 3000;

export type ToolsOptions = {
	readonly server: string;
	/** Whether the server has the capability `tools`. */
	readonly isDeclared: boolean;
	/** The tools that it listed before. */
	readonly before: readonly Listed[];
	readonly log: Log;
};

/** Reads the tools of a server. One that omits the capability may have some all the same. */
export async function readTools(
	link: MemberLink,
	{server, isDeclared, before, log}: ToolsOptions,
): Promise<readonly Listed[]> {
	const options = {server, method: 'tools/list', member: 'tools', key: 'name'};
	if (isDeclared) return readList(link, options);
	const tools = await readList(link, {...options, signal: AbortSignal.timeout(UNDECLARED_MS)}).catch(
		() => before,
	);
	if (tools.length > 0) {
		const sentence = `${server} omits capabilities.tools in its response to initialize, but responds to tools/list. Its tools are used; other clients may ignore them.`;
		warnOnce(log, 'hub.tools.undeclared', sentence, {server});
	}
	return tools;
}

function checkLimit(method: string, amount: number, limit: number, unit: string): void {
	if (amount > limit) throw new Error(`has too long a response to ${method}: the limit is ${limit} ${unit}`);
}

type Page = {
	/** With their numbers as `write` needs them. */
	readonly items: readonly unknown[];
	/** The same items, with their numbers as numbers. */
	readonly plain: readonly unknown[];
	/** The tools as the server sent them, where stages have changed the list. */
	readonly sent?: ReadonlyMap<unknown, JsonObject> | undefined;
	readonly write: (value: unknown) => string;
	readonly nextCursor: unknown;
};

/** Parses a response. Only one with numbers that parsing would change is parsed twice. */
function pageOf(answer: Envelope, {method, member}: ListOptions): Page {
	const {result, error} = answer.body;
	if (error !== undefined) throw new Error(`refused ${method}: ${brief(worded(objectOf(error).message))}`);
	const {[member]: list, nextCursor} = objectOf(result);
	const plain = listOf(list);
	const sent = member === 'tools' && answer.original !== answer ? toolsSent(answer) : undefined;
	if ((answer.head.marks & marks.inexactNumber) === 0)
		return {items: plain, plain, sent, write: JSON.stringify, nextCursor};
	const exact = new ExactNumbers();
	const items = listOf(objectOf(objectOf(exact.parse(answer.bytes.toString())).result)[member]);
	return {items, plain, sent, write: value => exact.write(value), nextCursor};
}

/** The items of one page. Items without a name cannot be requested. */
const listedOf = ({items, plain, sent, write}: Page, {server, key}: ListOptions): Listed[] =>
	items.flatMap((item, at) => {
		const body = objectOf(plain[at]);
		const name = body[key];
		if (!isObject(item) || typeof name !== 'string') return [];
		const rest = write(without(item, key, 'execution'));
		const output = wrappedOutput(body, sent?.get(name));
		return [{server, name, rest, body: without(body, 'execution'), output}];
	});

/** An item of a list as JSON, under a name. */
export const listedAs = (key: string, name: string, {rest}: Listed): string =>
	`{"${key}":${JSON.stringify(name)}${rest === '{}' ? '' : ','}${rest.slice(1)}`;
