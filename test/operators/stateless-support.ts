import type {NegotiationOptions} from '../../lib/protocol/negotiation.js';
import {type JsonObject, objectOf} from '../../lib/util/json.js';
import {envelope, lastOf, type Pair, type Setting, shakeHands, versioned} from '../helpers/version-stages.js';

export const MODERN = '2026-07-28';
const PREFIX = 'io.modelcontextprotocol/';
export const SUBSCRIPTION = `${PREFIX}subscriptionId`;
export const LOG_LEVEL = `${PREFIX}logLevel`;

export type Side = Pair['client'];

/** All that a side has heard since it was last asked. */
export function news({received: heard, receivedTexts: heardTexts}: Side): JsonObject[] {
	heardTexts.length = 0;
	return heard.splice(0);
}

/** Two that have done all that comes before they talk, and have forgotten it. */
export function ready(setting: Setting, options: Partial<NegotiationOptions> = {}): Pair {
	const pair = versioned(options);
	shakeHands(pair, setting);
	for (const side of [pair.client, pair.upstream]) news(side);
	return pair;
}

/** A client without handshake, in front of a server with. */
export const modernClientPair = (capabilities: JsonObject = {tools: {}}): Pair =>
	ready({client: MODERN, server: '2025-11-25', serverCapabilities: capabilities});

/** A client with handshake, in front of a server without. */
export const modernServerPair = (setting: Partial<Setting> = {}): Pair =>
	ready({client: '2025-11-25', server: MODERN, ...setting});

export type Modern = {
	readonly method?: string;
	readonly params?: JsonObject;
	readonly can?: JsonObject;
	readonly meta?: JsonObject;
};

/** A request of a modern client: a call, where nothing else is said. */
export function ask({client}: Pair, id: unknown, request: Modern = {}): void {
	const {method = 'tools/call', params = {name: 'x'}, can = {elicitation: {}}, meta = {}} = request;
	client.send({id, method, params: {...params, _meta: envelope(can, meta)}});
}

/** The same call again, with answers. */
export const retry = (
	pair: Pair,
	id: unknown,
	requestState: unknown,
	inputResponses: JsonObject = {},
): void => ask(pair, id, {params: {name: 'x', requestState, inputResponses}});

/** What the server asks, as a request. */
export const question = (
	id: unknown,
	method = 'elicitation/create',
	params: JsonObject = {message: '?'},
) => ({
	id,
	method,
	params,
});

/** Where the last answer to the client says that more is needed: under what to come back, and with what. */
export function asked({client}: Pair): {state: unknown; requests: JsonObject; id: unknown} {
	const {id, result} = lastOf(client);
	const {requestState: state, inputRequests} = objectOf(result);
	return {state, requests: objectOf(inputRequests), id};
}

/** What a modern server answers when it needs input. */
export const needs = (id: unknown, inputRequests: JsonObject | undefined, requestState?: string) => ({
	id,
	result: {
		resultType: 'input_required',
		...(inputRequests === undefined ? {} : {inputRequests}),
		...(requestState === undefined ? {} : {requestState}),
	},
});

export const textResult = (text: string) => ({content: [{type: 'text', text}]});
