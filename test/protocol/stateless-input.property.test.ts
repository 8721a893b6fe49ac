import assert from 'node:assert/strict';
import test from 'ava';
import fc from 'fast-check';
import {type HandshakeVersion, handshakeVersions} from '../../lib/protocol/version.js';
import {type JsonObject, objectOf} from '../../lib/util/json.js';
import {elicitResult} from '../helpers/mcp-arbitrary/elicitation.js';
import {modelResult, rootsResult} from '../helpers/mcp-arbitrary/results.js';
import {type Sample, samplesOf} from '../helpers/mcp-arbitrary.js';
import {type Validator, validators} from '../helpers/validity/validators.js';
import {envelope} from '../helpers/version-stages.js';
import {Conversation, holds, isInputRequired, STATELESS} from './stateless-client.js';

const RUNS = 150;
/** The capabilities of a client that supports all input requests, and of one of this version. */
const allCapabilities = {elicitation: {form: {}, url: {}}, sampling: {tools: {}, context: {}}, roots: {}};
const capabilitiesIn = (version: HandshakeVersion): JsonObject => {
	if (version >= '2025-11-25') return allCapabilities;
	return {...(version >= '2025-06-18' ? {elicitation: {}} : {}), sampling: {}, roots: {}};
};
const server = {tools: {}, prompts: {}, resources: {}};
const call = {jsonrpc: '2.0', method: 'tools/call'};

/** The responses of a stateless client. Older servers have no forms with multi-select fields. */
const responsesTo = (version: HandshakeVersion): {readonly [method: string]: fc.Arbitrary<unknown>} => ({
	'elicitation/create': elicitResult(version < '2025-11-25' ? version : STATELESS, {}),
	'sampling/createMessage': modelResult(STATELESS, {}),
	'roots/list': rootsResult(STATELESS, {}),
});

/** A handshake server sends a request, and the stateless client retries its call with a response. */
function checkServerRequest(
	version: HandshakeVersion,
	{message}: Sample,
	responses: JsonObject,
	validator: Validator,
): void {
	const conversation = new Conversation(STATELESS, version, {client: allCapabilities, server});
	const params = {name: 'x', _meta: envelope(allCapabilities)};
	conversation.send('client', {...call, id: 'c', params});
	const [needed] = conversation.send('upstream', message);
	if (isInputRequired(needed)) {
		const {requestState, inputRequests} = objectOf(needed?.result);
		const inputResponses = Object.fromEntries(
			Object.entries(objectOf(inputRequests)).map(([name, request]) => [
				name,
				responses[String(objectOf(request).method)],
			]),
		);
		const received = conversation.send('client', {
			...call,
			id: 'd',
			params: {...params, requestState, inputResponses},
		});
		assert.ok(received.length > 0);
	}
	conversation.check(validator);
}

for (const validator of validators)
	for (const version of handshakeVersions)
		test(`translates requests of a ${version} server to a stateless client, and the responses (${validator.name})`, t => {
			const requests = fc.oneof(...samplesOf(version, 'server').request.values());
			const property = fc.property(requests, fc.record(responsesTo(version)), (request, responses) =>
				checkServerRequest(version, request, responses, validator),
			);
			t.notThrows(() => holds(property, RUNS));
		});

/** A stateless server requires input, and the handshake client responds to each request. */
function checkInputRequired(
	{version, method}: {version: HandshakeVersion; method: string},
	{message}: Sample,
	responses: JsonObject,
	validator: Validator,
): void {
	const conversation = new Conversation(version, STATELESS, {client: capabilitiesIn(version), server});
	conversation.send('client', {jsonrpc: '2.0', id: 'c', method, params: {name: 'x', uri: 'file:///a'}});
	const requests = conversation.send('upstream', {...message, id: 'c'});
	for (const {id, method: requested} of requests) {
		const response = responses[String(requested)] as Sample | undefined;
		const error = {code: -32601, message: 'no'};
		if (id !== undefined && requested !== undefined)
			conversation.send('client', response ? {...response.message, id} : {jsonrpc: '2.0', id, error});
	}
	conversation.check(validator);
}

/** The responses of a client of this version, or undefined for some requests. */
const clientResponses = (version: HandshakeVersion): fc.Arbitrary<JsonObject> => {
	const results = samplesOf(version, 'client').result;
	const isPlain = ({definition}: Sample): boolean => definition !== 'CreateTaskResult';
	return fc.record(
		Object.fromEntries(
			Object.keys(responsesTo(version)).map(method => [
				method,
				fc.option(results.get(method)?.filter(isPlain) ?? fc.constant(undefined), {
					nil: undefined,
					freq: 10,
				}),
			]),
		),
	);
};

/** Any result of a stateless server that requires input, and any responses of a client of this version. */
const inputNeeded = (version: HandshakeVersion, method: string, validator: Validator) => {
	const results = samplesOf(STATELESS, 'server').result.get(method) ?? fc.constant(undefined);
	return fc.property(results, clientResponses(version), (needed, responses) => {
		if (needed && isInputRequired(needed.message))
			checkInputRequired({version, method}, needed, responses, validator);
	});
};

for (const validator of validators)
	for (const version of handshakeVersions)
		for (const method of ['tools/call', 'prompts/get', 'resources/read'])
			test(`translates input for ${method} between a stateless server and a ${version} client (${validator.name})`, t => {
				t.notThrows(() => holds(inputNeeded(version, method, validator), 2 * RUNS));
			});
