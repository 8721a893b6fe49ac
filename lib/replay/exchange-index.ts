import {createHash} from 'node:crypto';
import type {RecordedMessage} from '../traffic-log/log-contents.js';
import {isObject, type JsonObject, objectOf, without} from '../util/json.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';
import {type ComparisonRules, findDifferences, type ValueDifference} from './compare.js';
import {extractExchanges, type RecordedExchange} from './recorded-exchanges.js';
import type {Recording} from './recording.js';

/** Limit of recorded requests that are compared to find the most similar one. */
const MAX_COMPARED = 10_000;

/** Methods whose response does not depend on the params, which differ for each client. */
const methodsMatchedByName = new Set(['initialize', 'server/discover', 'ping', 'logging/setLevel']);

/** Recorded requests that match, or the most similar one. */
type ExchangeMatch =
	| {readonly same: readonly RecordedExchange[]}
	| {readonly nearest: RecordedExchange | undefined; readonly differences: readonly ValueDifference[]};

/** The recorded requests and notifications of clients, by method and params. */
export class ExchangeIndex {
	readonly recording: Recording;
	readonly methods: readonly string[];
	readonly #rules: ComparisonRules;
	readonly #exchanges = new Map<string, RecordedExchange[]>();
	/** Requests by method, then by a digest of their params. A method is indexed on first use. */
	readonly #byParams = new Map<string, Map<string, RecordedExchange[]>>();

	/** Each list of messages is a conversation. */
	constructor(
		recording: Recording,
		conversations: ReadonlyArray<readonly RecordedMessage[]>,
		rules: ComparisonRules,
	) {
		this.recording = recording;
		this.#rules = rules;
		const inspector = {
			tokenOf: (message: RecordedMessage) => progressTokenOf(recording.bytes(message)),
			cancelled: (message: RecordedMessage) => cancelledKeyOf(recording.bytes(message)),
		};
		for (const exchange of conversations.flatMap((messages, at) =>
			extractExchanges(messages, inspector, at),
		)) {
			const name = exchangeKey(exchange.message.kind, exchange.message.method);
			const list = this.#exchanges.get(name);
			if (list) list.push(exchange);
			else this.#exchanges.set(name, [exchange]);
		}
		this.methods = [...this.#exchanges.values()].flatMap(([exchange]) =>
			exchange?.message.kind === 'request' ? [exchange.message.method ?? ''] : [],
		);
	}

	notifications(method: string): readonly RecordedExchange[] {
		return this.#exchanges.get(exchangeKey('notification', method)) ?? [];
	}

	/** Finds recorded requests with the same method and params. */
	find(method: string, params: unknown): ExchangeMatch {
		const all = this.#exchanges.get(exchangeKey('request', method)) ?? [];
		if (methodsMatchedByName.has(method) && all.length > 0) return {same: all};
		const same = this.#indexByParams(method, all).get(digestParams(params));
		return same ? {same} : this.#findSimilar(all, comparableParams(params));
	}

	#indexByParams(method: string, all: readonly RecordedExchange[]): Map<string, RecordedExchange[]> {
		const cached = this.#byParams.get(method);
		if (cached) return cached;
		const index = new Map<string, RecordedExchange[]>();
		for (const exchange of all) {
			const key = digestParams(this.recording.body(exchange.message).params);
			const list = index.get(key);
			if (list) list.push(exchange);
			else index.set(key, [exchange]);
		}
		this.#byParams.set(method, index);
		return index;
	}

	/** Returns the requests without relevant differences, else the one with the fewest. */
	#findSimilar(all: readonly RecordedExchange[], live: JsonObject): ExchangeMatch {
		const same: RecordedExchange[] = [];
		let nearest:
			| {readonly exchange: RecordedExchange; readonly found: readonly ValueDifference[]}
			| undefined;
		for (const exchange of all.slice(0, MAX_COMPARED)) {
			const recorded = comparableParams(this.recording.body(exchange.message).params);
			const found = findDifferences(recorded, live, this.#rules, {path: ['params']});
			if (found.length === 0) same.push(exchange);
			else if (!nearest || found.length < nearest.found.length) nearest = {exchange, found};
		}
		return same.length > 0 ? {same} : {nearest: nearest?.exchange, differences: nearest?.found ?? []};
	}
}

const exchangeKey = (kind: string, method = ''): string => `${kind} ${method}`;

/** Params without `_meta`, which describes the client and contains the progress token. */
const comparableParams = (params: unknown): JsonObject => without(objectOf(params), '_meta');

/** Equal for the same params, in any order of members. */
const digestParams = (params: unknown): string =>
	createHash('sha256')
		.update(JSON.stringify(comparableParams(params), sortMembers))
		.digest('base64');

const sortMembers = (_name: string, value: unknown): unknown =>
	isObject(value)
		? Object.fromEntries(
				Object.entries(value).sort(([one], [other]) => Number(one > other) - Number(one < other)),
			)
		: value;

/** Returns the progress token of a request or of a progress notification, as JSON text. */
export const progressTokenOf = (message: Buffer): string | undefined =>
	memberText(message, 'params', '_meta', 'progressToken') ?? memberText(message, 'params', 'progressToken');

const cancelledKeyOf = (message: Buffer): string | undefined => {
	const id = memberText(message, 'params', 'requestId');
	return id === undefined ? undefined : canonicalId(id);
};
