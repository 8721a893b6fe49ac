import type {NegotiationOptions} from '../../lib/protocol/negotiation.js';
import {type JsonObject, objectOf} from '../../lib/util/json.js';
import {envelope, lastOf, type Pair, type Setting, shakeHands, versioned} from '../helpers/version-stages.js';

export const STATELESS = '2026-07-28';
const PREFIX = 'io.modelcontextprotocol/';
export const SUBSCRIPTION = `${PREFIX}subscriptionId`;
export const LOG_LEVEL = `${PREFIX}logLevel`;

export type Side = Pair['client'];

/** Removes and returns the messages that a side has received. */
export function takeReceived({received, receivedTexts}: Side): JsonObject[] {
	receivedTexts.length = 0;
	return received.splice(0);
}

/** Connects a pair after its handshake, without the messages of the handshake. */
export function ready(setting: Setting, options: Partial<NegotiationOptions> = {}): Pair {
	const pair = versioned(options);
	shakeHands(pair, setting);
	for (const side of [pair.client, pair.upstream]) takeReceived(side);
	return pair;
}

/** A stateless client with a handshake upstream. */
export const statelessClientPair = (capabilities: JsonObject = {tools: {}}): Pair =>
	ready({client: STATELESS, server: '2025-11-25', serverCapabilities: capabilities});

/** A handshake client with a stateless upstream. */
export const statelessUpstreamPair = (setting: Partial<Setting> = {}): Pair =>
	ready({client: '2025-11-25', server: STATELESS, ...setting});

export type StatelessRequest = {
	readonly method?: string;
	readonly params?: JsonObject;
	readonly capabilities?: JsonObject;
	readonly meta?: JsonObject;
};

/** Sends a request of a stateless client; by default, a tool call. */
export function sendRequest({client}: Pair, id: unknown, request: StatelessRequest = {}): void {
	const {method = 'tools/call', params = {name: 'x'}, capabilities = {elicitation: {}}, meta = {}} = request;
	client.send({id, method, params: {...params, _meta: envelope(capabilities, meta)}});
}

/** Retries the call with input responses. */
export const retry = (
	pair: Pair,
	id: unknown,
	requestState: unknown,
	inputResponses: JsonObject = {},
): void => sendRequest(pair, id, {params: {name: 'x', requestState, inputResponses}});

/** A request of the upstream; by default, an elicitation. */
export const serverRequest = (
	id: unknown,
	method = 'elicitation/create',
	params: JsonObject = {message: '?'},
) => ({
	id,
	method,
	params,
});

/** The input that the last response to the client requires, with its requestState. */
export function requiredInput({client}: Pair): {state: unknown; requests: JsonObject; id: unknown} {
	const {id, result} = lastOf(client);
	const {requestState: state, inputRequests} = objectOf(result);
	return {state, requests: objectOf(inputRequests), id};
}

/** The response of a stateless upstream that requires input. */
export const inputRequired = (id: unknown, inputRequests: JsonObject | undefined, requestState?: string) => ({
	id,
	result: {
		resultType: 'input_required',
		...(inputRequests === undefined ? {} : {inputRequests}),
		...(requestState === undefined ? {} : {requestState}),
	},
});

export const textResult = (text: string) => ({content: [{type: 'text', text}]});
