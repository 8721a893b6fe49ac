import {createHash} from 'node:crypto';
import type {RecordedMessage} from '../traffic-log/log-contents.js';
import {isObject, type JsonObject, objectOf, without} from '../util/json.js';
import {canonicalId} from '../wire/id.js';
import {memberText} from '../wire/member.js';
import {type ComparisonRules, findDifferences, type ValueDifference} from './compare.js';
import {extractExchanges, type RecordedExchange} from './recorded-exchanges.js';
import type {Recording} from './recording.js';

/** How many recorded requests of a method are looked at for the one that is nearest. */
const MAX_COMPARED = 10_000;

/** Methods that are answered alike whatever they are asked with: who asks is somebody else each time. */
const methodsMatchedByName = new Set(['initialize', 'server/discover', 'ping', 'logging/setLevel']);

/** What was found for a request: recorded ones that are the same, or what is nearest to it. */
type ExchangeMatch =
	| {readonly same: readonly RecordedExchange[]}
	| {readonly nearest: RecordedExchange | undefined; readonly differences: readonly ValueDifference[]};

/** All that recorded clients asked of a server, to be found again. */
export class ExchangeIndex {
	readonly recording: Recording;
	readonly methods: readonly string[];
	readonly #rules: ComparisonRules;
	readonly #exchanges = new Map<string, RecordedExchange[]>();
	/** By method, the requests with the same params. Made when a method is first asked for. */
	readonly #byParams = new Map<string, Map<string, RecordedExchange[]>>();

	/** Each list of messages is a conversation. */
	constructor(
		recording: Recording,
		conversations: ReadonlyArray<readonly RecordedMessage[]>,
		rules: ComparisonRules,
	) {
		this.recording = recording;
		this.#rules = rules;
		const insight = {
			tokenOf: (message: RecordedMessage) => progressTokenOf(recording.bytes(message)),
			cancelled: (message: RecordedMessage) => cancelledKeyOf(recording.bytes(message)),
		};
		for (const exchange of conversations.flatMap((messages, at) => extractExchanges(messages, insight, at))) {
			const name = exchangeKey(exchange.message.kind, exchange.message.method);
			const list = this.#exchanges.get(name);
			if (list) list.push(exchange);
			else this.#exchanges.set(name, [exchange]);
		}
		this.methods = [...this.#exchanges.values()].flatMap(([exchange]) =>
			exchange?.message.kind === 'request' ? [exchange.message.method ?? ''] : [],
		);
	}

	/** Notifications of this method, in the order of the recording. */
	notifications(method: string): readonly RecordedExchange[] {
		return this.#exchanges.get(exchangeKey('notification', method)) ?? [];
	}

	/** Recorded requests that are this one, by method and params. */
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

	/** Those that differ in nothing that matters; else the one that differs least. */
	#findSimilar(all: readonly RecordedExchange[], live: JsonObject): ExchangeMatch {
		const same: RecordedExchange[] = [];
		let nearest: {readonly cue: RecordedExchange; readonly found: readonly ValueDifference[]} | undefined;
		for (const exchange of all.slice(0, MAX_COMPARED)) {
			const recorded = comparableParams(this.recording.body(exchange.message).params);
			const found = findDifferences(recorded, live, this.#rules, {path: ['params']});
			if (found.length === 0) same.push(exchange);
			else if (!nearest || found.length < nearest.found.length) nearest = {cue: exchange, found};
		}
		return same.length > 0 ? {same} : {nearest: nearest?.cue, differences: nearest?.found ?? []};
	}
}

const exchangeKey = (kind: string, method = ''): string => `${kind} ${method}`;

/** What counts of params: not who asks, nor what the answer is to be called. */
const comparableParams = (params: unknown): JsonObject => without(objectOf(params), '_meta');

/** The same for the same params, however they are written. */
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

/** The token of a request, or of the progress of one, as the text that it is. */
export const progressTokenOf = (message: Buffer): string | undefined =>
	memberText(message, 'params', '_meta', 'progressToken') ?? memberText(message, 'params', 'progressToken');

const cancelledKeyOf = (message: Buffer): string | undefined => {
	const id = memberText(message, 'params', 'requestId');
	return id === undefined ? undefined : canonicalId(id);
};
