import type {Envelope} from '../core/envelope.js';
import type {Log} from '../core/log.js';
import {warnOnce} from '../core/warn-once.js';
import {isObject, type JsonObject, listOf, objectOf, toText, without} from '../util/json.js';
import {truncated} from '../util/truncate.js';
import {ExactNumbers} from '../wire/exact-numbers.js';
import {marks} from '../wire/marks.js';
import {originalTools, type WrappedOutput, wrappedOutput} from './unwrap-output.js';
import type {UpstreamRpcClient} from './upstream-rpc-client.js';

/** A tool, prompt or resource as an upstream lists it. */
export type ListedItem = {
	readonly server: string;
	/** The upstream's name for the item. */
	readonly name: string;
	/** The item without its name, as JSON. Numbers keep their original text. */
	readonly rest: string;
	readonly body: JsonObject;
	/** How the output of a tool is wrapped, if it is. */
	readonly output?: WrappedOutput | undefined;
};

/**
 * The limits of one list, with all its pages. It is parsed on the main thread, again after each change
 * notification.
 */
const MAX_PAGES = 1000;
export const MAX_LIST_BYTES = 4 * 2 ** 20;
export const MAX_LIST_ITEMS = 10_000;

type UpstreamListOptions = {
	readonly server: string;
	readonly method: string;
	/** The member of the result that contains the list, and the member that identifies each item. */
	readonly member: string;
	readonly key: string;
	readonly signal?: AbortSignal | undefined;
};

/**
 * Reads all pages of a list. Error messages continue a sentence that starts with the name of the upstream.
 */
export async function readList(rpc: UpstreamRpcClient, options: UpstreamListOptions): Promise<ListedItem[]> {
	const {method, signal} = options;
	const items: ListedItem[] = [];
	const cursors = new Set<unknown>();
	let [bytes, count] = [0, 0];
	for (let cursor: unknown; ; ) {
		const response = await rpc.requestEnvelope(method, cursor === undefined ? {} : {cursor}, {signal});
		bytes += response.size;
		checkLimit(method, bytes, MAX_LIST_BYTES, 'bytes');
		const page = parsePage(response, options);
		count += page.items.length;
		checkLimit(method, count, MAX_LIST_ITEMS, 'items');
		// Not with one `push`: a page may have more items than a call can have arguments.
		for (const item of itemsOfPage(page, options)) items.push(item);
		cursor = page.nextCursor;
		if (cursor === undefined || cursor === null || cursor === '') return items;
		if (cursors.has(cursor)) throw new Error(`sent the same cursor for ${method} twice`);
		cursors.add(cursor);
		checkLimit(method, cursors.size + 1, MAX_PAGES, 'pages');
	}
}

/** The timeout of tools/list for an upstream that does not declare tools. Most reject the request at once. */
const UNDECLARED_TOOLS_TIMEOUT_MS = 3000;

type ReadToolsOptions = {
	readonly server: string;
	readonly isDeclared: boolean;
	readonly previous: readonly ListedItem[];
	readonly log: Log;
};

/** Reads the tools of an upstream. Some upstreams have tools without declaring the capability. */
export async function readTools(
	rpc: UpstreamRpcClient,
	{server, isDeclared, previous, log}: ReadToolsOptions,
): Promise<readonly ListedItem[]> {
	const options = {server, method: 'tools/list', member: 'tools', key: 'name'};
	if (isDeclared) return readList(rpc, options);
	const tools = await readList(rpc, {
		...options,
		signal: AbortSignal.timeout(UNDECLARED_TOOLS_TIMEOUT_MS),
	}).catch(() => previous);
	if (tools.length > 0) {
		const sentence = `${server} omits capabilities.tools in its response to initialize, but responds to tools/list. Its tools are used; other clients may ignore them.`;
		warnOnce(log, 'hub.tools.undeclared', sentence, {server});
	}
	return tools;
}

function checkLimit(method: string, amount: number, limit: number, unit: string): void {
	if (amount > limit) throw new Error(`sent too long a response to ${method}: the limit is ${limit} ${unit}`);
}

type ListPage = {
	/** The items, with their numbers in the form that `writeJson` expects. */
	readonly items: readonly unknown[];
	/** The same items, with their numbers as JavaScript numbers. */
	readonly plainItems: readonly unknown[];
	/** The tools as the upstream sent them, if stages have changed the list. */
	readonly sentTools?: ReadonlyMap<unknown, JsonObject> | undefined;
	readonly writeJson: (value: unknown) => string;
	readonly nextCursor: unknown;
};

/** Parses a response. Only if parsing would change its numbers, it is parsed twice. */
function parsePage(response: Envelope, {method, member}: UpstreamListOptions): ListPage {
	const {result, error} = response.body;
	if (error !== undefined)
		throw new Error(`rejected ${method}: ${truncated(toText(objectOf(error).message))}`);
	const {[member]: list, nextCursor} = objectOf(result);
	const plainItems = listOf(list);
	const sentTools =
		member === 'tools' && response.original !== response ? originalTools(response) : undefined;
	if ((response.head.marks & marks.inexactNumber) === 0)
		return {items: plainItems, plainItems, sentTools, writeJson: JSON.stringify, nextCursor};
	const exact = new ExactNumbers();
	const items = listOf(objectOf(objectOf(exact.parse(response.bytes.toString())).result)[member]);
	return {items, plainItems, sentTools, writeJson: value => exact.stringify(value), nextCursor};
}

/** The items of one page. Items without a name are dropped, since they cannot be requested. */
const itemsOfPage = (
	{items, plainItems, sentTools, writeJson}: ListPage,
	{server, key}: UpstreamListOptions,
): ListedItem[] =>
	items.flatMap((item, at) => {
		const body = objectOf(plainItems[at]);
		const name = body[key];
		if (!isObject(item) || typeof name !== 'string') return [];
		const rest = writeJson(without(item, key, 'execution'));
		const output = wrappedOutput(body, sentTools?.get(name));
		return [{server, name, rest, body: without(body, 'execution'), output}];
	});

/** Returns an item as JSON, under another name. */
export const itemJson = (key: string, name: string, {rest}: ListedItem): string =>
	`{"${key}":${JSON.stringify(name)}${rest === '{}' ? '' : ','}${rest.slice(1)}`;
